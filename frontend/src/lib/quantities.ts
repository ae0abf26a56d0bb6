/** What is measured: how people read it, and what it is exactly. */
import {
  formatAmount,
  formatByteRate,
  formatBytes,
  formatCompact,
  formatDuration,
  formatDurationMs,
  formatRecordRate,
} from "./format";
import { formatBudget, formatShare, sharePrecise } from "./readings";

interface Sort {
  words: (value: number) => string;
  /** Of the exact value: what it counts, one and many. */
  unit: readonly [one: string, many: string];
  /** How many of that unit one of the value is. */
  scale?: number;
}

const SORTS = {
  amount: { words: formatAmount, unit: ["", ""] },
  bytes: { words: formatBytes, unit: ["byte", "bytes"] },
  byteRate: { words: formatByteRate, unit: ["byte/s", "bytes/s"] },
  records: { words: formatCompact, unit: ["record", "records"] },
  recordRate: { words: formatRecordRate, unit: ["record/s", "records/s"] },
  /** A span in seconds. */
  span: { words: formatDuration, unit: ["s", "s"] },
  /** A span in milliseconds. */
  spanMs: { words: formatDurationMs, unit: ["ms", "ms"] },
  /** 0 to 1. */
  share: { words: formatShare, unit: ["%", "%"], scale: 100 },
  /** A share of which the nines count. */
  preciseShare: { words: sharePrecise, unit: ["%", "%"], scale: 100 },
  /** What is left of a budget, below 0 when it is overspent. */
  budget: { words: formatBudget, unit: ["%", "%"], scale: 100 },
} as const satisfies Record<string, Sort>;

export type Measure = keyof typeof SORTS;

/** Twelve digits after the point are more than any of our sources measures, and hide 0.1 + 0.2. */
const full = new Intl.NumberFormat("en-US", { maximumFractionDigits: 12 });

/** 1234567 → "1,234,567 bytes"; nothing is rounded that was measured. */
export function exactly(of: Measure, value: number): string {
  const { unit, scale = 1 }: Sort = SORTS[of];
  const exact = scale === 1 ? value : Number((value * scale).toPrecision(12));
  return `${full.format(exact)} ${exact === 1 ? unit[0] : unit[1]}`.trim();
}

/** "1.18 MiB", "20 %", "1d 2h". */
export const inWords = (of: Measure, value: number): string => SORTS[of].words(value);
