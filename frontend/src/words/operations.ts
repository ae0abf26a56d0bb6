import { operations } from "./en/operations";
import { shown } from "./shown";

export const words = shown("operations", operations);
