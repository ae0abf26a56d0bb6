/** Numbers that come with their unit in their name, as alerts and checks give them: `lag_s`, `free_bytes`. */
import { words } from "@/words";
import { formatBytes, formatDuration, formatDurationMs, formatInteger } from "./format";

const NOT_KNOWN = "not known";

const UNITS: [ending: RegExp, words: (value: number) => string][] = [
  [/_ms$/, formatDurationMs],
  [/(_|^)(s|seconds)$/, formatDuration],
  [/(_|^)bytes$/, formatBytes],
  [/(_|^)(share|ratio)$/, formatShare],
];

/** 0.2 → "20 %"; a tenth of a per cent at most. */
export function formatShare(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const percent = Math.round(value * 1000) / 10;
  return `${percent < 0 ? "−" : ""}${Math.abs(percent)} %`;
}

/** 0.9995 → "99.95 %": the nines are what an objective is about. */
export const sharePrecise = (share: number): string => `${Number((share * 100).toFixed(3))} %`;

/** Far overspent, a tenth of a per cent says nothing. */
export const formatBudget = (left: number): string =>
  Math.abs(left) >= 10
    ? `${left < 0 ? "−" : ""}${formatInteger(Math.abs(Math.round(left * 100)))} %`
    : formatShare(left);

/** "first_loss_in_s" → "first loss in"; the unit goes to the value. */
export function readingLabel(name: string): string {
  return name
    .replace(/_(ms|s|seconds|ratio)$/, "")
    .replaceAll("_", " ")
    .trim();
}

/** Readings that are one of the states of groups and topics, by the service's own word for it. */
const STATES = /^(status|risk)$/;
const LAG: Record<string, { label: string }> = words.statuses.lag;
const stateWords = (state: string): string =>
  Object.hasOwn(LAG, state) ? (LAG[state]?.label ?? state) : state.toLowerCase().replaceAll("_", " ");

/** What is not known is said so: it is no number. */
export function readingValue(name: string, value: unknown): string {
  if (value === null || value === undefined || value === "") return NOT_KNOWN;
  if (typeof value === "number") {
    const unit = UNITS.find(([ending]) => ending.test(name));
    if (unit) return unit[1](value);
    return Number.isInteger(value) ? formatInteger(value) : String(Math.round(value * 1000) / 1000);
  }
  if (typeof value === "string") return STATES.test(name) ? stateWords(value) : value;
  if (typeof value === "boolean") return value ? "yes" : "no";
  return JSON.stringify(value);
}

const EXACT_UNITS: [ending: RegExp, unit: string, scale: number][] = [
  [/_ms$/, "ms", 1],
  [/(_|^)(s|seconds)$/, "s", 1],
  [/(_|^)bytes$/, "bytes", 1],
  [/(_|^)(share|ratio)$/, "%", 100],
];
const full = new Intl.NumberFormat("en-US", { maximumFractionDigits: 12 });
const inExactUnit = (value: number, unit: string, scale: number) =>
  `${full.format(scale === 1 ? value : Number((value * scale).toPrecision(12)))} ${unit}`;

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

/** A threshold in its unit: `60, "s"` → "1m". */
export function inUnit(value: number | null | undefined, unit: string): string {
  if (value === null || value === undefined) return "not set";
  if (unit === "s") return formatDuration(value);
  if (unit === "ratio") return formatShare(value);
  if (unit === "bytes") return formatBytes(value);
  return `${formatInteger(value)} ${value === 1 ? unit.replace(/s$/, "") : unit}`;
}
