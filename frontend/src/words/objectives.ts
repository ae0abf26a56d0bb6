import { objectives } from "./en/objectives";
import { shown } from "./shown";

export const words = shown("objectives", objectives);
