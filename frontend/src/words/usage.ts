import { usage } from "./en/usage";
import { shown } from "./shown";

export const words = shown("usage", usage);
