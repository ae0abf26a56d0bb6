import { scaling } from "./en/scaling";
import { shown } from "./shown";

export const words = shown("scaling", scaling);
