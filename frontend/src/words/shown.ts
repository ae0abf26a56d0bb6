/** The words of the language that is shown. English is at hand at once, feature by feature; another language is loaded
 * before the first page (`speakIn`) and takes the place of the English words. */
import type * as en from "./en";

type Widened<T> = T extends string
  ? string
  : T extends (...given: infer Given) => string
    ? (...given: Given) => string
    : T extends (...given: infer Given) => infer Said
      ? (...given: Given) => Said
      : { readonly [Name in keyof T]: Widened<T[Name]> };

/** What a language has to say; one that lacks a word, or does not take what a sentence is about, does not compile. */
export type Words = Widened<typeof en>;

export interface Language {
  /** As `Intl` and the document's `lang` take it: "de", "pt-BR". */
  tag: string;
  words: Words;
}

type Group = Record<string, unknown>;
const isGroup = (value: unknown): value is Group => typeof value === "object" && value !== null;

interface Catalogue {
  english: Group;
  shown: Group;
}

const catalogues = new Map<string, Catalogue>();
let spoken: { tag: string; words?: Words } = { tag: "en-US" };

/** Puts the words of `from` into `into`, group by group: who holds a group goes on holding the words that are shown. */
function put(from: Group, into: Group): void {
  for (const [name, value] of Object.entries(from)) {
    const held = into[name];
    if (!isGroup(value)) into[name] = value;
    else if (isGroup(held)) put(value, held);
    else put(value, (into[name] = {}));
  }
}

function show(name: string, { english, shown }: Catalogue): void {
  put(english, shown);
  const other = (spoken.words as Group | undefined)?.[name];
  if (isGroup(other)) put(other, shown);
}

/** The words called `name` in the language that is shown. */
export function shown<Name extends keyof Words>(name: Name, english: (typeof en)[Name]): Words[Name] {
  const catalogue: Catalogue = { english: english as unknown as Group, shown: {} };
  catalogues.set(name, catalogue);
  show(name, catalogue);
  return catalogue.shown as unknown as Words[Name];
}

/** Speaks `language` from now on; null: English. What a page wrote already stays, so call it before the first one. */
export function speakIn(language: Language | null): void {
  spoken = language ?? { tag: "en-US" };
  for (const [name, catalogue] of catalogues) show(name, catalogue);
}

/** The language that is shown, as `Intl` takes it. */
export const languageTag = (): string => spoken.tag;
