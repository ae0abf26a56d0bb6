import { readings } from "./en/readings";
import { shown } from "./shown";

export const words = shown("readings", readings);
