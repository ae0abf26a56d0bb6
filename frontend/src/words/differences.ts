import { differences } from "./en/differences";
import { shown } from "./shown";

/** What is not as it was left; the page of a topic, of access and of what changed outside say it. */
export const words = shown("differences", differences);
