import { grants } from "./en/grants";
import { shown } from "./shown";

export const words = shown("grants", grants);
