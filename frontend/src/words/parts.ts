import { parts } from "./en/parts";
import { shown } from "./shown";

export const words = shown("parts", parts);
