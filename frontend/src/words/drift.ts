import { drift } from "./en/drift";
import { shown } from "./shown";

export const words = shown("drift", drift);
