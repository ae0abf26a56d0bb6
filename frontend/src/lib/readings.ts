/** Numbers that come with their unit in their name, as alerts and checks give them: `lag_s`, `free_bytes`. */
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
  return `${Math.round(value * 1000) / 10} %`;
}

/** "first_loss_in_s" → "first loss in"; the unit goes to the value. */
export function readingLabel(name: string): string {
  return name
    .replace(/_(ms|s|seconds|ratio)$/, "")
    .replaceAll("_", " ")
    .trim();
}

/** What is not known is said so: it is no number. */
export function readingValue(name: string, value: unknown): string {
  if (value === null || value === undefined || value === "") return NOT_KNOWN;
  if (typeof value === "number") {
    const unit = UNITS.find(([ending]) => ending.test(name));
    if (unit) return unit[1](value);
    return Number.isInteger(value) ? formatInteger(value) : String(Math.round(value * 1000) / 1000);
  }
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "yes" : "no";
  return JSON.stringify(value);
}

/** A threshold in its unit: `60, "s"` → "1m". */
export function inUnit(value: number | null | undefined, unit: string): string {
  if (value === null || value === undefined) return "not set";
  if (unit === "s") return formatDuration(value);
  if (unit === "ratio") return formatShare(value);
  if (unit === "bytes") return formatBytes(value);
  return `${formatInteger(value)} ${value === 1 ? unit.replace(/s$/, "") : unit}`;
}
