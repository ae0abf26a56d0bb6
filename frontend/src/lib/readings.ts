/** Numbers that come with their unit in their name, as alerts and checks give them: `lag_s`, `free_bytes`. */
import { words as common } from "@/words";
import { words } from "@/words/readings";
import { formatBytes, formatDuration, formatDurationMs, formatInteger } from "./format";
import { DIGITS_MAX, inLanguage, numerals } from "./numerals";
import { formatShare } from "./shares";

const UNITS: [ending: RegExp, words: (value: number) => string][] = [
  [/_ms$/, formatDurationMs],
  [/(_|^)(s|seconds)$/, formatDuration],
  [/(_|^)bytes$/, formatBytes],
  [/(_|^)(share|ratio)$/, formatShare],
];

const NAMES: Record<string, string> = words.names;

/** "first_loss_in_s" → "first loss in"; the unit goes to the value. A name that a newer service sends is spelled out. */
export function readingLabel(name: string): string {
  const bare = name.replace(/_(ms|s|seconds|ratio)$/, "");
  return (Object.hasOwn(NAMES, bare) && NAMES[bare]) || bare.replaceAll("_", " ").trim();
}

/** Readings that are one of the states of groups and topics, by the service's own word for it. */
const STATES = /^(status|risk)$/;
const LAG: Record<string, { label: string }> = common.statuses.lag;
const stateWords = (state: string): string =>
  Object.hasOwn(LAG, state) ? (LAG[state]?.label ?? state) : state.toLowerCase().replaceAll("_", " ");

/** What is not known is said so: it is no number. */
export function readingValue(name: string, value: unknown): string {
  if (value === null || value === undefined || value === "") return words.notKnown;
  if (typeof value === "number") {
    const unit = UNITS.find(([ending]) => ending.test(name));
    if (unit) return unit[1](value);
    return Number.isInteger(value) ? formatInteger(value) : inLanguage(String(Math.round(value * 1000) / 1000));
  }
  if (typeof value === "string") return STATES.test(name) ? stateWords(value) : value;
  if (typeof value === "boolean") return value ? words.yes : words.no;
  return JSON.stringify(value);
}

const EXACT_UNITS: [ending: RegExp, unit: string, scale: number][] = [
  [/_ms$/, "ms", 1],
  [/(_|^)(s|seconds)$/, "s", 1],
  [/(_|^)bytes$/, "bytes", 1],
  [/(_|^)(share|ratio)$/, "%", 100],
];
const inExactUnit = (value: number, unit: string, scale: number) =>
  `${numerals(DIGITS_MAX).format(scale === 1 ? value : Number((value * scale).toPrecision(12)))} ${unit}`;

/** What the words of a reading hide: "5,400 s"; null where they are exact themselves. */
export function readingExact(name: string, value: unknown): string | null {
  const found = EXACT_UNITS.find(([ending]) => ending.test(name));
  if (typeof value !== "number" || Number.isNaN(value)) return null;
  return found ? inExactUnit(value, found[1], found[2]) : Number.isInteger(value) ? null : String(value);
}

/** The same of a threshold in its unit. */
export function exactInUnit(value: number | null | undefined, unit: string): string | null {
  if (value === null || value === undefined) return null;
  if (unit === "s" || unit === "bytes") return inExactUnit(value, unit, 1);
  return unit === "ratio" ? inExactUnit(value, "%", 100) : null;
}

const COUNTED: Record<string, (amount: number) => string> = words.counted;

/** A threshold in its unit: `60, "s"` → "1m". */
export function inUnit(value: number | null | undefined, unit: string): string {
  if (value === null || value === undefined) return words.notSet;
  if (unit === "s") return formatDuration(value);
  if (unit === "ratio") return formatShare(value);
  if (unit === "bytes") return formatBytes(value);
  const counted = Object.hasOwn(COUNTED, unit) ? COUNTED[unit] : undefined;
  return counted ? counted(value) : words.inUnit(value, unit);
}
