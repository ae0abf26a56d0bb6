import { summaries } from "./en/summaries";
import { shown } from "./shown";

/** What plans and operations do; reviews of plans and the page of an operation say it. */
export const words = shown("summaries", summaries);
