/** What is on the screen in English while another language is shown. */
import { readFileSync } from "node:fs";
import { fiberOf, nameOf } from "./fibers";
import { parted } from "./pseudo";

const ATTRIBUTES = ["aria-label", "aria-description", "title", "placeholder", "alt"];

/** Signs that are the same everywhere: what `Intl` writes (before its digits are taken), units, our name. */
const SIGNS = [
  /\b\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* \d+|\b(?:AM|PM|UTC)\b|\d{4}-\d\d-\d\dT[\d:]+Z?|[\d:]+Z/g,
  /\b\d[\d.,]*\s?(?:ms|[dhms]|[kMBT]|B|[KMGTP]iB)?(?:\/s)?(?![\p{L}\d])/gu,
  /\b(?:[KMGT]?iB|GiB·h|B)(?:\/s)?(?![\p{L}\d])/gu,
  /Penstock/g,
];

/** What the test's server says of what it has no answer for: a failure like others, which the page shows. */
const NOT_ANSWERED = /The test has no answer for [A-Z]+ \S+/g;

/** What stands by itself, and may be an id. */
const WORD = /(?<![\p{L}\d/_.:-])[A-Za-z][A-Za-z_.-]*[A-Za-z](?![\p{L}\d/_.:-])/gu;

/** What a request, an event of the audit or our name is written like; dates as `Intl` writes them. */
const NAME = /^(?:Penstock|[a-z-]+\/|[a-z]+:|[a-z-]+(?:[._][a-z-]+)+:?|[a-z]+_\d+|\/\S*|[A-Z][a-z]{2} \d+, \d{4}, .*)$/;

/** Every string in an answer that is data: neither the names of its fields, nor a sentence whose code stands beside it,
 * which the catalogue puts. */
function* strings(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (Array.isArray(value)) for (const one of value) yield* strings(one);
  else if (typeof value === "object" && value !== null)
    for (const [name, one] of Object.entries(value)) if (!hasCode(value, name)) yield* strings(one);
}

/** A text has its code beside it, or is put together of parts that have; so has each of several texts. */
function hasCode(row: object, name: string): boolean {
  const { code: own, params, ...said } = row as Record<string, unknown>;
  const { [`${name}_code`]: code, [`${name}_parts`]: parts = name === "text" ? said.parts : undefined } = said;
  const hasParts = (rows: unknown[]) => rows.length > 0 && rows.every((row) => !Array.isArray(row) || row.length > 0);
  const isPart = name === "text" && typeof own === "string" && typeof params === "object";
  return typeof code === "string" || (Array.isArray(parts) && hasParts(parts)) || isPart;
}

/** Lists of values that are the same in every language, each by one of them: what protocols define, and what programs are called. */
const NAMES = ["SCRAM-SHA-512", "SASL_SSL", "CRITICAL", "SSL", "librdkafka"];

/** The values that the document of the API lists one by one: ids of roles, states, kinds. People read words for them. */
function enumerated(): ReadonlySet<string> {
  const found = new Set<string>();
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [name, one] of Object.entries(value)) {
      if (name !== "enum" || !Array.isArray(one)) walk(one);
      else if (!NAMES.some((id) => one.includes(id))) for (const id of one) found.add(String(id));
    }
  };
  walk(JSON.parse(readFileSync("openapi.json", "utf-8")));
  return found;
}
const IDS = enumerated();

/** Operators find an id on hover where its words stand. */
function isIdOf(element: Element): boolean {
  const ids = (element.getAttribute("title") ?? "").split(", ");
  return ids.every((id) => IDS.has(id)) && parted(element.textContent).inside !== "";
}

/** What is data, code or never shown; Mantine measures text areas by a hidden one, which it names for nobody. */
const UNREAD = "style, script, code, kbd, pre, .ps-mono, .ps-code, textarea[aria-hidden=true]";

/** Texts and labels of `element` and below, each with what it is. */
function* seen(element: Element): Generator<string> {
  if (element.matches(UNREAD)) return;
  for (const name of ATTRIBUTES) if (name !== "title" || !isIdOf(element)) yield element.getAttribute(name) ?? "";
  for (const node of element.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) yield node.textContent ?? "";
    else if (node.nodeType === Node.ELEMENT_NODE) yield* seen(node as Element);
  }
}

/** What a hint says once the pointer rests on what it is about: it waits for that, and is read before. */
function* hinted(root: Element): Generator<string> {
  for (const element of root.querySelectorAll("*")) {
    const around = fiberOf(element)?.return;
    const label = around?.memoizedProps?.label;
    if (nameOf(around) === "Hint" && typeof label === "string") yield label;
  }
}

/** The texts of the document that hold letters which neither the catalogue nor `data` gave, each time it is asked for. */
export function leakFinder(data: unknown, allowed: readonly string[] = []): () => string[] {
  const isGiven = (text: string) => /\p{L}/u.test(text) && !IDS.has(text);
  const given = [...new Set([...strings(data)].filter(isGiven).concat(allowed))];
  // The long ones first, so that a sentence goes before a name in it.
  given.sort((one, other) => other.length - one.length);
  const without = (text: string) => given.reduce((rest, part) => rest.split(part).join(" "), text);
  const judged = new Map<string, boolean>();
  const isLeak = (text: string): boolean => {
    const { outside, inside } = parted(text.replace(NOT_ANSWERED, " "));
    // A sentence was given an id where it ought to be given a word.
    const words = without(inside).match(WORD);
    if (words?.some((word) => IDS.has(word))) return true;
    if (NAME.test(outside.trim())) return false;
    let rest = without(outside);
    for (const sign of SIGNS) rest = rest.replace(sign, " ");
    return /\p{L}/u.test(rest);
  };
  return () => {
    const found = new Set<string>();
    for (const text of [...seen(document.body), ...hinted(document.body)]) {
      const known = judged.get(text) ?? isLeak(text);
      judged.set(text, known);
      if (known) found.add(text.trim());
    }
    return [...found].sort();
  };
}

export const leaks = (data: unknown, allowed: readonly string[] = []): string[] => leakFinder(data, allowed)();
