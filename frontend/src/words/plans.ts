import { plans } from "./en/plans";
import { shown } from "./shown";

export const words = shown("plans", plans);
