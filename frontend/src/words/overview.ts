import { overview } from "./en/overview";
import { shown } from "./shown";

export const words = shown("overview", overview);
