import { lateParts } from "./en/late-parts";
import { shown } from "./shown";

/** Of components that the first view has none of. */
export const words = shown("lateParts", lateParts);
