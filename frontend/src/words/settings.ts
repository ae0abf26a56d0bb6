import { settings } from "./en/settings";
import { shown } from "./shown";

export const words = shown("settings", settings);
