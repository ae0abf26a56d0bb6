import { quotas } from "./en/quotas";
import { shown } from "./shown";

export const words = shown("quotas", quotas);
