import { common } from "./common";
import { kinds } from "./kinds";
import { navigation } from "./navigation";
import { palette } from "./palette";
import { statuses } from "./statuses";

/** English, in which the console is written first. */
export const en = { common, kinds, navigation, palette, statuses };
