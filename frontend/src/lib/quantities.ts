/** What is measured: how people read it, and what it is exactly. */
import { words } from "@/words/parts";
import {
  formatAmount,
  formatByteRate,
  formatBytes,
  formatCompact,
  formatDuration,
  formatDurationMs,
  formatRecordRate,
} from "./format";
import { DIGITS_MAX, numerals } from "./numerals";
import { formatBudget, formatShare, sharePrecise } from "./shares";

const say = words.quantity;

interface Sort {
  words: (value: number) => string;
  /** The exact value: a sign of a unit, or what is counted in the language's own forms. */
  unit: string | ((value: number) => string);
  /** How many of that unit one of the value is. */
  scale?: number;
}

const SORTS = {
  amount: { words: formatAmount, unit: "" },
  bytes: { words: formatBytes, unit: (value) => say.bytes(value) },
  byteRate: { words: formatByteRate, unit: (value) => say.bytesPerS(value) },
  records: { words: formatCompact, unit: (value) => say.records(value) },
  recordRate: { words: formatRecordRate, unit: (value) => say.recordsPerS(value) },
  /** A span in seconds. */
  span: { words: formatDuration, unit: "s" },
  /** A span in milliseconds. */
  spanMs: { words: formatDurationMs, unit: "ms" },
  /** 0 to 1. */
  share: { words: formatShare, unit: "%", scale: 100 },
  /** A share of which the nines count. */
  preciseShare: { words: sharePrecise, unit: "%", scale: 100 },
  /** What is left of a budget, below 0 when it is overspent. */
  budget: { words: formatBudget, unit: "%", scale: 100 },
} satisfies Record<string, Sort>;

export type Measure = keyof typeof SORTS;

/** 1234567 → "1,234,567 bytes"; nothing is rounded that was measured. */
export function exactly(of: Measure, value: number): string {
  const { unit, scale = 1 }: Sort = SORTS[of];
  const exact = scale === 1 ? value : Number((value * scale).toPrecision(12));
  return typeof unit === "string" ? `${numerals(DIGITS_MAX).format(exact)} ${unit}`.trim() : unit(exact);
}

/** "1.18 MiB", "20 %", "1d 2h". */
export const inWords = (of: Measure, value: number): string => SORTS[of].words(value);
