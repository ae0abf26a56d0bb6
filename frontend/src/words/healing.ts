import { healing } from "./en/healing";
import { shown } from "./shown";

export const words = shown("healing", healing);
