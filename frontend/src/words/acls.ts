import { acls } from "./en/acls";
import { shown } from "./shown";

export const words = shown("acls", acls);
