import { sentences } from "./en/sentences";
import { shown } from "./shown";

/** What the service says by a code; never more than what reviews of plans and operations need. */
export const words = shown("sentences", sentences);
