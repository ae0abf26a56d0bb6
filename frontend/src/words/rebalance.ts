import { rebalance } from "./en/rebalance";
import { shown } from "./shown";

export const words = shown("rebalance", rebalance);
