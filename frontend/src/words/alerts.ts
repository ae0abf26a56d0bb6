import { alerts } from "./en/alerts";
import { shown } from "./shown";

export const words = shown("alerts", alerts);
