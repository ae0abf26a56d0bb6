/** Sentences that the service says by their codes, put by the catalogue's templates. A code that it has and this console
 * does not, or one that takes other parameters, leaves its own sentence. */
import { filled, type Params, type Phrases } from "./templates";
import type { SaidPart } from "./types";

export type Sentences = Readonly<Record<string, string>>;
const BETWEEN = " ";

export function put(
  sentences: Sentences,
  code: string | null,
  params: Params,
  text: string,
  phrases: Phrases = {},
): string {
  const template = code === null ? undefined : sentences[code];
  return (template && filled(template, params, phrases)) ?? text;
}

/** One after the other. */
export const inTurn = (sentences: Sentences, parts: readonly SaidPart[], phrases: Phrases = {}): string =>
  parts.map(({ code, params, text }) => put(sentences, code, params, text, phrases)).join(BETWEEN);

/** The same; without parts, as of an earlier version or where it had to be cut, the service's own text. */
export const textOf = (
  sentences: Sentences,
  parts: readonly SaidPart[],
  text: string,
  phrases: Phrases = {},
): string => (parts.length === 0 ? text : inTurn(sentences, parts, phrases));
