/** Numbers, bytes and times for people. The exact value always stays reachable in a title. */

import { words } from "@/words";
import { inLanguage, numerals } from "./numerals";

const integer = { format: (value: number): string => numerals(0).format(value) };
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;
const NONE = "–";

type Maybe = number | null | undefined;

const missing = (value: Maybe): value is null | undefined =>
  value === null || value === undefined || Number.isNaN(value);

export function formatInteger(value: Maybe): string {
  return missing(value) ? NONE : integer.format(value);
}

/** 1234567 → "1.23M"; exact below ten thousand. */
export function formatCompact(value: Maybe): string {
  if (missing(value)) return NONE;
  const size = Math.abs(value);
  if (size < 10_000) return integer.format(value);
  const { thousands, millions, billions, trillions } = words.common.magnitudes;
  const steps: [number, string][] = [
    [1e12, trillions],
    [1e9, billions],
    [1e6, millions],
    [1e3, thousands],
  ];
  const [by, sign] = steps.find(([limit]) => size >= limit) ?? [1, ""];
  return trim(value / by) + sign;
}

export function formatBytes(value: Maybe): string {
  if (missing(value)) return NONE;
  let size = Math.abs(value);
  let unit = 0;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  const text = unit === 0 ? integer.format(size) : trim(size);
  return `${value < 0 ? "−" : ""}${text} ${UNITS[unit]}`;
}

/** GiB·h and the like: three digits, whole and grouped from a thousand on; never "3.76e+3". */
export function formatAmount(value: Maybe): string {
  if (missing(value)) return NONE;
  const size = Math.abs(value);
  // From 999.5 on, three digits round to a thousand, which toPrecision() writes as a power of ten.
  if (size >= 999.5 || size === 0) return integer.format(value);
  return size >= 0.001 ? inLanguage(value.toPrecision(3)) : `${value < 0 ? "> −" : "< "}${inLanguage("0.001")}`;
}

/** Two digits that say anything, written out: 0.00000042, never "4.2e-7". */
const twoDigits = (amount: number): string =>
  amount.toFixed(Math.min(100, 1 - Math.floor(Math.log10(Math.abs(amount))))).replace(/0+$/, "");

/** What something costs, to the cent; smaller amounts with as many digits as say anything. */
export function formatCost(cost: string | null, currency: string | null): string {
  const amount = Number(cost);
  if (cost === null || cost === "" || Number.isNaN(amount)) return words.common.notKnown;
  const size = Math.abs(amount);
  const text = size >= 0.01 || size === 0 ? amount.toFixed(2) : twoDigits(amount);
  const [whole = "", cents] = text.split(".");
  const grouped = /^-?\d+$/.test(whole) ? integer.format(Number(whole)) : whole;
  return `${cents === undefined ? grouped : `${grouped}${inLanguage(`.${cents}`)}`} ${currency ?? ""}`.trim();
}

/** 93784 → "1d 2h"; two units at most. */
export function formatDuration(seconds: Maybe): string {
  if (missing(seconds)) return NONE;
  const total = Math.abs(seconds);
  const sign = seconds < 0 ? "−" : "";
  const { days, hours, minutes, seconds: unit, milliseconds } = words.common.units;
  if (total < 1) return total === 0 ? `0${unit}` : `${sign}${Math.round(total * 1000)}${milliseconds}`;
  if (total < 10) return `${sign}${trim(total)}${unit}`;
  const whole = Math.round(total);
  const parts: [number, string][] = [
    [Math.floor(whole / 86_400), days],
    [Math.floor((whole % 86_400) / 3600), hours],
    [Math.floor((whole % 3600) / 60), minutes],
    [whole % 60, unit],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  return (
    sign +
    parts
      .slice(first, first + 2)
      .filter(([count]) => count > 0)
      .map(([count, sign]) => `${count}${sign}`)
      .join(" ")
  );
}

export function formatDurationMs(ms: Maybe): string {
  return missing(ms) ? NONE : formatDuration(ms / 1000);
}

/** Milliseconds or RFC 3339, as Date; null when there is none. */
export function toDate(value: string | number | null | undefined): Date | null {
  if (value === null || value === undefined || value === "") return null;
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? null : date;
}

export function formatRelative(date: Date, now: number): string {
  const seconds = Math.round((now - date.getTime()) / 1000);
  if (Math.abs(seconds) < 5) return words.common.justNow;
  const span = formatDuration(Math.abs(seconds)).split(" ")[0] ?? "";
  return seconds > 0 ? words.common.ago(span) : words.common.fromNow(span);
}

export function formatExact(date: Date): string {
  const iso = date.toISOString();
  return `${date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" })}  (${iso.slice(0, 19)}Z)`;
}

/** 0.25 → "0.25/s"; three digits of what is small, whole records from a hundred on. */
export function formatRecordRate(value: Maybe): string {
  if (missing(value)) return NONE;
  if (value === 0) return "0/s";
  if (value < 0.01) return `< ${inLanguage("0.01")}/s`;
  if (value < 100) return `${inLanguage(String(Number(value.toPrecision(3))))}/s`;
  return `${value < 10_000 ? formatInteger(value) : formatCompact(value)}/s`;
}

export const formatByteRate = (value: Maybe): string => (missing(value) ? NONE : `${formatBytes(value)}/s`);

function trim(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  const short = value
    .toFixed(digits)
    .replace(/\.?0+$/, (zeros) => (zeros.startsWith(".") ? "" : digits === 0 ? zeros : ""));
  return inLanguage(short);
}
