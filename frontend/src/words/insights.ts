import { insights } from "./en/insights";
import { shown } from "./shown";

export const words = shown("insights", insights);
