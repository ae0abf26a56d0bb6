import { runbooks } from "./en/runbooks";
import { shown } from "./shown";

export const words = shown("runbooks", runbooks);
