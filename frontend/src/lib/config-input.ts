/** What somebody types for a setting, as the value that Kafka takes: with units, within the key's own bounds. Pure. */
import type { TopicSetting } from "@/generated/settings";
import { words } from "@/words/topic-settings";
import { unitOf } from "./config-values";

const say = words.configInput;

export type Typed = { value: string; problem?: undefined } | { value?: undefined; problem: string };

const NO_LIMIT = /^(for ?ever|never|no limit|unlimited|none)$/i;
/** Kafka's largest number stands for "no limit" where -1 is not taken. */
const LONG_MAX = "9223372036854775807";
const PART = /(-?\d+(?:\.\d+)?)\s*([a-zµ]+)/gi;
const MS: Record<string, number> = {
  ms: 1,
  millisecond: 1,
  milliseconds: 1,
  s: 1000,
  sec: 1000,
  second: 1000,
  seconds: 1000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  minutes: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  hours: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  days: 86_400_000,
  w: 604_800_000,
  week: 604_800_000,
  weeks: 604_800_000,
};
const BYTES: Record<string, number> = {
  b: 1,
  byte: 1,
  bytes: 1,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
  tib: 1024 ** 4,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
};
const UNITS = { ms: MS, bytes: BYTES } as const;

const INTEGERS = new Set(["INT", "SHORT", "LONG"]);

/** The value that Kafka takes for a text, or why there is none, in one sentence. */
export function typedValue(name: string, text: string, setting: TopicSetting): Typed {
  const trimmed = text.trim();
  if (setting.choices.length > 0) return chosen(trimmed, setting);
  if (setting.type === "BOOLEAN") {
    const value = trimmed.toLowerCase();
    return value === "true" || value === "false" ? { value } : { problem: say.trueOrFalse };
  }
  if (setting.type === "DOUBLE") return ratio(trimmed, setting);
  if (!INTEGERS.has(setting.type)) return { value: trimmed };
  if (trimmed === "") return { problem: say.typeAValue };
  const number = wholeNumber(name, trimmed, setting);
  return typeof number === "string" ? { problem: number } : within(name, number, setting);
}

function chosen(text: string, { type, choices }: TopicSetting): Typed {
  const items = type === "LIST" ? text.split(",").map((item) => item.trim()) : [text];
  const unknown = items.find((item) => !choices.includes(item));
  if (text === "" || unknown === "") return { problem: type === "LIST" ? say.chooseAtLeastOne : say.chooseOne };
  return unknown === undefined ? { value: items.join(",") } : { problem: say.notOneOf(unknown, choices.join(", ")) };
}

function ratio(text: string, { lowest, highest, allowed }: TopicSetting): Typed {
  const number = Number(text);
  const fits =
    text !== "" &&
    Number.isFinite(number) &&
    number >= Number(lowest ?? -Infinity) &&
    number <= Number(highest ?? Infinity);
  return fits ? { value: text } : { problem: say.numberWithin(allowed) };
}

/** A whole number by its digits, its units or its word; else the sentence that says what is taken. */
function wholeNumber(name: string, text: string, setting: TopicSetting): bigint | string {
  const unit = unitOf(name);
  if (/^[+-]?\d+$/.test(text)) return BigInt(text);
  if (unit === null) return say.wholeNumber;
  if (NO_LIMIT.test(text))
    return BigInt(setting.lowest !== null && BigInt(setting.lowest) <= -1n ? "-1" : (setting.highest ?? LONG_MAX));
  const parts = [...text.matchAll(PART)];
  const rest = text.replaceAll(PART, "").replaceAll(/[\s,]|\band\b/g, "");
  const units: Record<string, number> = UNITS[unit];
  let sum = 0;
  for (const [, count, word = ""] of parts) {
    const size = units[word.toLowerCase()];
    if (size === undefined) return say.noUnit(word, say.examples[unit]);
    sum += Number(count) * size;
  }
  if (parts.length === 0 || rest !== "") return say.forExample(say.examples[unit]);
  // Beyond this a sum of parts is not exact any more.
  if (Math.abs(sum) > Number.MAX_SAFE_INTEGER) return say.tooLarge(unit);
  const whole = Math.round(sum);
  return Math.abs(whole - sum) > 1e-6 ? say.notWhole(unit) : BigInt(whole);
}

function within(name: string, value: bigint, { lowest, highest, allowed }: TopicSetting): Typed {
  const fits = (lowest === null || value >= BigInt(lowest)) && (highest === null || value <= BigInt(highest));
  const unit = unitOf(name);
  return fits ? { value: String(value) } : { problem: unit ? say.hasToBeIn(allowed, unit) : say.hasToBe(allowed) };
}
