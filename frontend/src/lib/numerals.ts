/** Numbers by the rules of the language that is shown. Making a formatter is dear, so each is made once. */
import { languageTag } from "@/words/shown";

/** Of an exact number: more than any of our sources measures, and it hides 0.1 + 0.2. */
export const DIGITS_MAX = 12;

const made = new Map<string, Intl.NumberFormat>();

/** A formatter with at most so many digits after the point; `whole` numbers are grouped: 1,234. */
export function numerals(digitsMax: number): Intl.NumberFormat {
  const tag = languageTag();
  const key = `${digitsMax} ${tag}`;
  const known = made.get(key);
  if (known) return known;
  const fresh = new Intl.NumberFormat(tag, { maximumFractionDigits: digitsMax });
  made.set(key, fresh);
  return fresh;
}

/** "1.5" with the sign that the language has before a fraction: "1,5". */
export function inLanguage(digits: string): string {
  if (!digits.includes(".")) return digits;
  const sign = numerals(1)
    .formatToParts(1.5)
    .find(({ type }) => type === "decimal");
  return digits.replace(".", sign?.value ?? ".");
}
