/** A language made by a machine out of English: accented, longer and in brackets. What is on a screen without brackets
 * did not come from the catalogue; what does not fit would not fit in German either. */
import { cloneElement, isValidElement, type ReactElement, type ReactNode } from "react";
import type { Language, Words } from "@/words/shown";

const PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const ACCENTED = "áƀçđéƒǧħíĵķłɱñóƥɋřšŧúṽŵẋýžÁɃÇĐÉƑǦĦÍĴĶŁṀÑÓƤɊŘŠŦÚṼŴẊÝŽ";
const accents = new Map([...PLAIN].map((letter, index) => [letter, [...ACCENTED][index] ?? letter]));
const accented = (text: string): string => [...text].map((letter) => accents.get(letter) ?? letter).join("");

const OPEN = "⟦";
const CLOSE = "⟧";
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const hasLetters = (text: string): boolean => /\p{L}/u.test(text);

/** A text that `given` stands in, which stays as it is. */
function translated(text: string, given: string[] = []): string {
  if (!hasLetters(text)) return text;
  const names = given.filter((name) => name.length > 1 && hasLetters(name)).sort((a, b) => b.length - a.length);
  let parts = [text];
  for (const name of names) parts = parts.flatMap((part) => part.split(new RegExp(`(${escaped(name)})`)));
  const body = parts.map((part) => (names.includes(part) ? part : accented(part))).join("");
  return `${OPEN}${body}${"~".repeat(Math.ceil(text.length / 3))}${CLOSE}`;
}

/** The texts of a rich sentence, but not what it was given. */
function rich(said: ReactElement, given: unknown[]): ReactElement {
  const { children } = said.props as { children?: ReactNode };
  const each = (child: ReactNode): ReactNode => {
    if (given.includes(child)) return child;
    if (typeof child === "string") return translated(child);
    return isValidElement(child) ? rich(child, given) : child;
  };
  const changed = Array.isArray(children) ? children.map(each) : [each(children)];
  return cloneElement(said, undefined, ...changed);
}

const PLACE = /(\{\w+(?::[^}]*)?\})/;

/** `{name:one=# topic|other=# topics}`: the names of forms stay, what they say does not. */
function place(text: string): string {
  const [, name = "", spec] = /^\{(\w+)(?::(.*))?\}$/.exec(text) ?? [];
  if (spec === undefined) return text;
  const forms = spec.split("|").map((row) => row.replace(/=(.*)$/, (_, said: string) => `=${accented(said)}`));
  return `{${name}:${forms.join("|")}}`;
}

/** A sentence with places for parameters (`lib/templates.ts`). */
const template = (text: string): string =>
  `${OPEN}${text
    .split(PLACE)
    .map((part) => (PLACE.test(part) ? place(part) : accented(part)))
    .join("")}${"~".repeat(Math.ceil(text.length / 3))}${CLOSE}`;

function machine(said: unknown): unknown {
  if (typeof said === "string") return PLACE.test(said) ? template(said) : translated(said);
  if (typeof said === "function")
    return (...given: unknown[]) => {
      const answer: unknown = (said as (...given: unknown[]) => unknown)(...given);
      if (typeof answer === "string") return translated(answer, given.map(String));
      return isValidElement(answer) ? rich(answer, given) : answer;
    };
  return Object.fromEntries(Object.entries(said as object).map(([name, value]) => [name, machine(value)]));
}

export const pseudo = (words: Words): Language => ({ tag: "en-x-pseudo", words: machine(words) as Words });

/** What of `text` is in no brackets, and what is in some: of that, what a sentence was given has no accents. */
export function parted(text: string): { outside: string; inside: string } {
  let depth = 0;
  let outside = "";
  let inside = "";
  for (const letter of text) {
    if (letter === OPEN) depth += 1;
    else if (letter === CLOSE) depth -= 1;
    else if (depth === 0) outside += letter;
    else inside += letter;
  }
  return { outside, inside };
}
