import { timeline } from "./en/timeline";
import { shown } from "./shown";

export const words = shown("timeline", timeline);
