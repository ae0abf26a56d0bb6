import { session } from "./en/session";
import { shown } from "./shown";

export const words = shown("session", session);
