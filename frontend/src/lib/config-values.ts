/** Values of Kafka's settings by the unit in the key's own name: exact as the brokers have them, and in words. */
import { formatBytes, plural } from "./format";

export type ConfigUnit = "ms" | "bytes";

const DURATIONS: [ms: number, one: string][] = [
  [86_400_000, "day"],
  [3_600_000, "hour"],
  [60_000, "minute"],
  [1_000, "second"],
  [1, "millisecond"],
];
const PARTS_SPOKEN = 2;
/** Kafka's largest number, in ms and in bytes, stands for "no limit". */
const UNBOUNDED = 9e18;
const SIZES = [1, 1024, 1024 ** 2, 1024 ** 3, 1024 ** 4, 1024 ** 5];

/** `retention.ms` → ms, `segment.bytes` → bytes; null: a plain number or text. */
export function unitOf(name: string): ConfigUnit | null {
  return (/(?:^|[._])(ms|bytes)$/.exec(name)?.[1] as ConfigUnit | undefined) ?? null;
}

/** 604800000 → "7 days"; of more than two units the largest two, with "about". */
export function durationWords(ms: number): string {
  const found: string[] = [];
  let left = Math.abs(ms);
  for (const [size, one] of DURATIONS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) found.push(plural(count, one));
  }
  const text = found.slice(0, PARTS_SPOKEN).join(" ") || "0 milliseconds";
  return found.length > PARTS_SPOKEN ? `about ${text}` : text;
}

/** 1048576 → "1 MiB", 1048588 → "about 1 MiB": what is rounded says so. */
export function sizeWords(bytes: number): string {
  const unit = SIZES.findLast((size) => bytes >= size) ?? 1;
  const exact = Number.isInteger((bytes / unit) * 100) && bytes / unit < 1000;
  return `${exact || unit === 1 ? "" : "about "}${formatBytes(bytes)}`;
}

/** What a value means, in words; null where the number or text says it itself. */
export function valueWords(name: string, value: string | null | undefined): string | null {
  const unit = unitOf(name);
  const number = Number(value);
  if (unit === null || value === null || value === undefined || value === "" || Number.isNaN(number)) return null;
  if (number === -1) return name === "retention.ms" ? "for ever" : "no limit";
  if (number < 0) return null;
  if (number >= UNBOUNDED) return "no limit";
  // Below a second the number is as plain as its words.
  if (unit === "ms") return number < 1000 ? null : durationWords(number);
  return number < 1024 ? null : sizeWords(number);
}

/** A value with its unit, as exact as Kafka has it: "604800000 ms". */
export function exactValue(name: string, value: string): string {
  const unit = unitOf(name);
  return unit === null || value === "" || Number.isNaN(Number(value)) ? value : `${value} ${unit}`;
}
