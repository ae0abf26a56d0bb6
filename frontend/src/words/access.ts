import { access } from "./en/access";
import { shown } from "./shown";

export const words = shown("access", access);
