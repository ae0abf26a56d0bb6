import { hostSaid } from "./en/host-said";
import { shown } from "./shown";

/** What plans about hosts say, and what is in the way of their brokers; operators' pages say it. */
export const words = shown("hostSaid", hostSaid);
