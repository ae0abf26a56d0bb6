import { analytics } from "./en/analytics";
import { shown } from "./shown";

export const words = shown("analytics", analytics);
