import { frame } from "./en/frame";
import { shown } from "./shown";

export const words = shown("frame", frame);
