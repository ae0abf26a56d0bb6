import { healingSaid } from "./en/healing-said";
import { shown } from "./shown";

/** What self-healing says of its decisions and cases, as templates by the service's codes. */
export const words = shown("healingSaid", healingSaid);
