import { platform } from "./en/platform";
import { shown } from "./shown";

export const words = shown("platform", platform);
