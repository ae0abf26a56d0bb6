import { reassignments } from "./en/reassignments";
import { shown } from "./shown";

export const words = shown("reassignments", reassignments);
