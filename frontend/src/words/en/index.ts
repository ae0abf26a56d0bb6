import { common } from "./common";
import { connect } from "./connect";
import { kinds } from "./kinds";
import { navigation } from "./navigation";
import { palette } from "./palette";
import { statuses } from "./statuses";

/** English, in which the console is written first. */
export const en = { common, connect, kinds, navigation, palette, statuses };
