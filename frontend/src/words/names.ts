import { names } from "./en/names";
import { shown } from "./shown";

export const words = shown("names", names);
