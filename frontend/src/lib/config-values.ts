/** Values of Kafka's settings by the unit in the key's own name: exact as the brokers have them, and in words. */
import { words } from "@/words/plans";
import { formatBytes } from "./format";

export type ConfigUnit = "ms" | "bytes";

const say = words.configValue;

const DURATIONS = [
  [86_400_000, "days"],
  [3_600_000, "hours"],
  [60_000, "minutes"],
  [1_000, "seconds"],
  [1, "milliseconds"],
] as const;
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
  for (const [size, unit] of DURATIONS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) found.push(say[unit](count));
  }
  const text = found.slice(0, PARTS_SPOKEN).join(" ") || say.milliseconds(0);
  return found.length > PARTS_SPOKEN ? say.about(text) : text;
}

/** 1048576 → "1 MiB", 1048588 → "about 1 MiB": what is rounded says so. */
export function sizeWords(bytes: number): string {
  const unit = SIZES.findLast((size) => bytes >= size) ?? 1;
  const exact = Number.isInteger((bytes / unit) * 100) && bytes / unit < 1000;
  const text = formatBytes(bytes);
  return exact || unit === 1 ? text : say.about(text);
}

/** Whether a value stands for "no limit" by being the largest. */
export const isUnbounded = (value: number): boolean => value >= UNBOUNDED;

/** What a value means, in words; null where the number or text says it itself. */
export function valueWords(name: string, value: string | null | undefined): string | null {
  const unit = unitOf(name);
  const number = Number(value);
  if (unit === null || value === null || value === undefined || value === "" || Number.isNaN(number)) return null;
  if (number === -1) return name === "retention.ms" ? say.forEver : say.noLimit;
  if (number < 0) return null;
  if (isUnbounded(number)) return say.noLimit;
  // Below a second the number is as plain as its words.
  if (unit === "ms") return number < 1000 ? null : durationWords(number);
  return number < 1024 ? null : sizeWords(number);
}

/** A value with its unit, as exact as Kafka has it: "604800000 ms". */
export function exactValue(name: string, value: string): string {
  const unit = unitOf(name);
  return unit === null || value === "" || Number.isNaN(Number(value)) ? value : `${value} ${unit}`;
}
