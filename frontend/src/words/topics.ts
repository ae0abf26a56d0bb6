import { topics } from "./en/topics";
import { shown } from "./shown";

export const words = shown("topics", topics);
