import { navigation } from "./navigation";
import { palette } from "./palette";

/** English, in which the console is written first. */
export const en = { navigation, palette };
