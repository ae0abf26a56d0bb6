/** Sentences that are put together from a template and its parameters, as `controlplane/common/sentences.py` does it in
 * English: the forms are the language's own, numbers and units are written by its rules. */
import { languageTag } from "@/words/shown";
import { formatByteRate, formatBytes, formatExact, toDate } from "./format";
import { numerals } from "./numerals";
import { exactly } from "./quantities";

export type Params = Readonly<Record<string, string | number | null>>;
/** By the name of a parameter that holds codes, what each is called. */
export type Phrases = Readonly<Record<string, Readonly<Record<string, string>>>>;
type Forms = ReadonlyMap<string, string>;

const PLACE = /\{(\w+)(?::([^}]*))?\}/g;
const EACH = "each|";
const BETWEEN = ", ";
const PARTS_MAX = 2;
const UNITS_MS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
  ["millisecond", 1],
] as const;

/** Rounded where people read it, and exactly beside it, as a sentence has no place for a title. */
const withExact = (short: string, exact: string): string => `${short} (${exact})`;

/** "7 days", "1 hour 30 minutes"; the two largest units. */
export function lasting(ms: number): string {
  const found: string[] = [];
  let left = ms;
  for (const [unit, size] of UNITS_MS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0 || (unit === "millisecond" && found.length === 0))
      found.push(new Intl.NumberFormat(languageTag(), { style: "unit", unit, unitDisplay: "long" }).format(count));
  }
  return found.slice(0, PARTS_MAX).join(" ");
}

/** By the end of a parameter's name; the longest first. */
const UNITS: readonly (readonly [string, (value: number) => string])[] = [
  ["_bytes_per_s", (value) => withExact(formatByteRate(value), exactly("byteRate", value))],
  [
    "_bytes",
    (value) => (value < 1024 ? exactly("bytes", value) : withExact(formatBytes(value), exactly("bytes", value))),
  ],
  ["_ms", lasting],
  ["_s", (value) => lasting(value * 1000)],
];

function written(name: string, value: string | number): string {
  if (typeof value === "number") {
    const unit = UNITS.find(([end]) => name.endsWith(end));
    return unit ? unit[1](value) : numerals(3).format(value);
  }
  const moment = name.endsWith("_at") ? toDate(value) : null;
  return moment ? formatExact(moment) : value;
}

const formsOf = (spec: string): Forms =>
  new Map(
    spec
      .split("|")
      .filter((row) => row.includes("="))
      .map((row) => [row.slice(0, row.indexOf("=")), row.slice(row.indexOf("=") + 1)]),
  );

function keysOf(value: string | number): string[] {
  // A name that somebody gave may be "unknown": that form is for null alone.
  if (typeof value === "string") return value === "unknown" ? ["other"] : [value, "other"];
  const plural = new Intl.PluralRules(languageTag()).select(value);
  return value === 0 ? ["none", plural, "other"] : [plural, "other"];
}

function chosen(forms: Forms, keys: readonly string[], text: string): string | null {
  const key = keys.find((one) => forms.has(one));
  return key === undefined ? null : (forms.get(key) ?? "").replaceAll("#", () => text);
}

function put(name: string, spec: string, value: string | number | null, phrases: Phrases): string | null {
  const each = spec.startsWith(EACH);
  const forms = formsOf(each ? spec.slice(EACH.length) : spec);
  if (value === null) return chosen(forms, ["unknown"], "");
  const group = phrases[name];
  const parts = String(value).split(BETWEEN);
  if (group) return parts.every((code) => code in group) ? parts.map((code) => group[code]).join(BETWEEN) : null;
  const text = written(name, value);
  if ([...forms.keys()].every((key) => key === "unknown")) return text;
  if (!each) return chosen(forms, keysOf(value), text);
  const rows = parts.map((part) => chosen(forms, keysOf(part), part));
  return rows.some((row) => row === null) ? null : rows.join(BETWEEN);
}

/** The sentence; null when the parameters are others than it takes, as a newer service's may be. */
export function filled(template: string, params: Params, phrases: Phrases = {}): string | null {
  let isWhole = true;
  const text = template.replace(PLACE, (_, name: string, spec?: string) => {
    const value = params[name];
    const said = value === undefined ? null : put(name, spec ?? "", value, phrases);
    if (said === null) isWhole = false;
    return said ?? "";
  });
  return isWhole ? text : null;
}
