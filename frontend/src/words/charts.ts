import { charts } from "./en/charts";
import { shown } from "./shown";

export const words = shown("charts", charts);
