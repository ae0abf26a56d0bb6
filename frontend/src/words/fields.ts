import { fields } from "./en/fields";
import { shown } from "./shown";

export const words = shown("fields", fields);
