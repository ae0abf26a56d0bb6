import { rolls } from "./en/rolls";
import { shown } from "./shown";

export const words = shown("rolls", rolls);
