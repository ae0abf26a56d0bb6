/** What a step of an operation says of itself, what it failed with, what a roll waits for, and what an operation leaves, in the language that is shown. */
import { words as said } from "@/words/sentences";
import { words } from "@/words/step-details";
import { filled, type Phrases } from "./templates";
import type { Operation, OperationStep, RolledBroker } from "./types";

type Part = OperationStep["detail_parts"][number];
type OperationError = Pick<NonNullable<Operation["error"]>, "detail" | "detail_parts">;
type Roll = NonNullable<NonNullable<Operation["outcome"]>["roll"]>;

const SENTENCES: Readonly<Record<string, string>> = words.sentences;
const PHRASES: Phrases = { did_step: said.steps, back_step: said.steps };
/** What codes of parts begin with that lead in the next one, "waiting:", end the one before, "as broker 2 says", or are whole
 * sentences. */
const LEAD = "lead/";
const TAIL = "tail/";
const WHOLE = ["remains/", "failed/"];

/** A sentence that a newer service has and this console does not is the service's own text. */
function partText({ code, params, text }: Part): string {
  const template = SENTENCES[code];
  return (template && filled(template, params, PHRASES)) ?? text;
}

function between(before: Part | undefined, part: Part): string {
  if (before === undefined) return "";
  if (part.code.startsWith(TAIL)) return words.beforeTail;
  return [LEAD, ...WHOLE].some((begin) => before.code.startsWith(begin)) ? " " : words.between;
}

/** Of the parts; without them, as of an earlier version, the service's own text. */
function textOf(parts: readonly Part[], english: string): string {
  if (parts.length === 0) return english;
  return parts.map((part, index) => between(parts[index - 1], part) + partText(part)).join("");
}

/** "3 of 6 replicas in sync"; a step of an earlier version, or one that failed with what a broker said, has the service's own
 * text. */
export const detailText = ({ detail, detail_parts }: Pick<OperationStep, "detail" | "detail_parts">): string =>
  textOf(detail_parts, detail);

/** What an operation failed with. */
export const errorText = ({ detail, detail_parts }: OperationError): string => textOf(detail_parts ?? [], detail);

/** What is noted of a broker that is restarted. */
export const noteText = ({ note, note_parts }: Pick<RolledBroker, "note" | "note_parts">): string =>
  textOf(note_parts ?? [], note);

/** What is in the way of the next broker, one after the other. */
export const waitingText = ({
  waiting_for,
  waiting_for_parts,
}: Pick<Roll, "waiting_for" | "waiting_for_parts">): string =>
  waiting_for.map((english, index) => textOf(waiting_for_parts?.[index] ?? [], english)).join(words.between);

/** What a failed or cancelled operation has left, a sentence each; null: not known. */
export const remainsTexts = ({ remains, remains_parts }: Pick<Operation, "remains" | "remains_parts">) =>
  remains && remains.map((english, index) => textOf(remains_parts?.[index] ?? [], english));
