/** What is on the screen in English while another language is shown. */
import { outside } from "./pseudo";

const ATTRIBUTES = ["aria-label", "aria-description", "title", "placeholder", "alt"];

/** Signs that are the same everywhere: what `Intl` writes (before its digits are taken), units, our name. */
const SIGNS = [
  /\b\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* \d+|\b(?:AM|PM|UTC)\b|\d{4}-\d\d-\d\dT[\d:]+Z?|[\d:]+Z/g,
  /\b\d[\d.,]*\s?(?:ms|[dhms]|[kMBT]|B|[KMGTP]iB)?(?:\/s)?(?![\p{L}\d])/gu,
  /\b(?:[KMGT]?iB|GiB·h|B)(?:\/s)?(?![\p{L}\d])/gu,
  /Penstock/g,
];

/** What a request, an event of the audit or our name is written like; dates as `Intl` writes them. */
const NAME = /^(?:Penstock|[a-z-]+\/|[a-z]+:|[a-z-]+(?:[._][a-z-]+)+:?|[a-z]+_\d+|\/\S*|[A-Z][a-z]{2} \d+, \d{4}, .*)$/;

/** Every string in an answer, the long ones first, so that a sentence goes before a name in it. */
function* strings(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (Array.isArray(value)) for (const one of value) yield* strings(one);
  else if (typeof value === "object" && value !== null)
    for (const [name, one] of Object.entries(value)) {
      yield name;
      yield* strings(one);
    }
}

/** Texts and labels below `root`, each with what it is. */
function* seen(root: Element): Generator<string> {
  for (const element of [root, ...root.querySelectorAll("*")]) {
    // Mantine measures text areas by a hidden one, which it names for nobody.
    if (element.closest("style, script, code, kbd, pre, .ps-mono, .ps-code, textarea[aria-hidden=true]")) continue;
    for (const name of ATTRIBUTES) yield element.getAttribute(name) ?? "";
    for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) yield node.textContent ?? "";
  }
}

/** The texts of the document that hold letters which neither the catalogue nor `data` gave. */
export function leaks(data: unknown, allowed: readonly string[] = []): string[] {
  const given = [...new Set([...strings(data), ...allowed])].filter((text) => /\p{L}/u.test(text));
  given.sort((one, other) => other.length - one.length);
  const found = new Set<string>();
  for (const text of seen(document.body)) {
    let rest = outside(text);
    if (NAME.test(rest.trim())) continue;
    for (const part of given) rest = rest.split(part).join(" ");
    for (const sign of SIGNS) rest = rest.replace(sign, " ");
    if (/\p{L}/u.test(rest)) found.add(text.trim());
  }
  return [...found].sort();
}
