import { audit } from "./en/audit";
import { shown } from "./shown";

export const words = shown("audit", audit);
