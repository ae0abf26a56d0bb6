/** What scheduled rebalances say, in the language that is shown. */
import { words as names } from "@/words";
import { words } from "@/words/rebalance-said";
import type { RebalanceSchedule, ScheduledRebalance } from "./rebalance-schedule";
import { textOf } from "./said";
import type { Phrases } from "./templates";

const PHRASES: Phrases = { kind: names.kinds };

/** What the last look came to. */
export const verdictText = ({ text, parts }: NonNullable<RebalanceSchedule["decision"]>): string =>
  textOf(words, parts, text, PHRASES);

/** Why one began. */
export const reasonText = ({ reason, reason_parts }: Pick<ScheduledRebalance, "reason" | "reason_parts">): string =>
  textOf(words, reason_parts, reason, PHRASES);
