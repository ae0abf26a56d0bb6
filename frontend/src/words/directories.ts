import { directories } from "./en/directories";
import { shown } from "./shown";

export const words = shown("directories", directories);
