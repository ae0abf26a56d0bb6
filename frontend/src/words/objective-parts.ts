import { objectiveParts } from "./en/objective-parts";
import { shown } from "./shown";

export const words = shown("objectiveParts", objectiveParts);
