import { diffs } from "./en/diffs";
import { shown } from "./shown";

export const words = shown("diffs", diffs);
