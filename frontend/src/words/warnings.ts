import { warnings } from "./en/warnings";
import { shown } from "./shown";

/** What plans warn of; never more than what their reviews need. */
export const words = shown("warnings", warnings);
