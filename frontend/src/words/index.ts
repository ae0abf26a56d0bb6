/** What the console says, in one place and by name, so that another language is one more folder like `en`. */
import { en } from "./en";

type Widened<T> = T extends string
  ? string
  : T extends (...given: infer Given) => string
    ? (...given: Given) => string
    : { readonly [Name in keyof T]: Widened<T[Name]> };

/** What a language has to say; one that lacks a word, or does not take what a sentence is about, does not compile. */
export type Words = Widened<typeof en>;

export const LANGUAGES = { en } satisfies Record<string, Words>;

export const words: Words = LANGUAGES.en;
