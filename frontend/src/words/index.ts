/** What the console says in its frame and on many pages. A feature's own words are in `words/<feature>`, so that they
 * are loaded with its pages. */
import { common } from "./en/common";
import { kinds } from "./en/kinds";
import { navigation } from "./en/navigation";
import { palette } from "./en/palette";
import { statuses } from "./en/statuses";
import { shown } from "./shown";

export const words = {
  common: shown("common", common),
  kinds: shown("kinds", kinds),
  navigation: shown("navigation", navigation),
  palette: shown("palette", palette),
  statuses: shown("statuses", statuses),
};
