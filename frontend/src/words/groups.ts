import { groups } from "./en/groups";
import { shown } from "./shown";

export const words = shown("groups", groups);
