/** How fast a partition is written and read, and when its reader is there, in words. */
import { formatDuration, formatInteger } from "@/lib/format";
import type { GroupOffset } from "@/lib/types";
import { words } from "@/words/groups";

const say = words.pace;

/** 14.2 → "14/s"; what is not known is said. */
export function formatRate(recordsPerS: number | null | undefined): string {
  if (recordsPerS === null || recordsPerS === undefined) return "–";
  const rate = Math.max(0, recordsPerS);
  if (rate === 0) return "0/s";
  if (rate < 0.05) return "< 0.1/s";
  return `${rate < 10 ? rate.toFixed(1) : formatInteger(rate)}/s`;
}

export interface Eta {
  text: string;
  tone?: "warn";
  hint: string;
}

/** When the reader of a partition has caught up. */
export function etaOf(row: GroupOffset): Eta {
  if (row.lag === 0) return { text: say.caughtUp, hint: say.nothingUnread };
  const { produce_records_per_s: produced, consume_records_per_s: consumed, eta_s: eta } = row;
  if (row.lag === null || produced === null || consumed === null) return { text: "–", hint: say.needsSamples };
  if (eta !== null) return { text: formatDuration(eta), hint: say.atThePaceOfTheLastMinutes(Math.round(eta)) };
  return { text: say.notAtThisPace, tone: "warn", hint: say.producedFaster };
}
