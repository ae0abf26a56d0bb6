import { rebalanceSaid } from "./en/rebalance-said";
import { shown } from "./shown";

/** What scheduled rebalances say, as templates by the service's codes. */
export const words = shown("rebalanceSaid", rebalanceSaid);
