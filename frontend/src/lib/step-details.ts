/** What a step of an operation says of itself, in the language that is shown. */
import { words } from "@/words/step-details";
import { filled } from "./templates";
import type { OperationStep } from "./types";

type Part = OperationStep["detail_parts"][number];

const SENTENCES: Readonly<Record<string, string>> = words.sentences;
/** What codes of parts begin with that lead in the next one, "waiting:", or end the one before, "as broker 2 says". */
const LEAD = "lead/";
const TAIL = "tail/";

/** A sentence that a newer service has and this console does not is the service's own text. */
function partText({ code, params, text }: Part): string {
  const template = SENTENCES[code];
  return (template && filled(template, params)) ?? text;
}

function between(before: Part | undefined, part: Part): string {
  if (before === undefined) return "";
  if (part.code.startsWith(TAIL)) return words.beforeTail;
  return before.code.startsWith(LEAD) ? " " : words.between;
}

/** "3 of 6 replicas in sync"; a step of an earlier version, or one that failed, has the service's own text. */
export function detailText({ detail, detail_parts: parts }: Pick<OperationStep, "detail" | "detail_parts">): string {
  if (parts.length === 0) return detail;
  return parts.map((part, index) => between(parts[index - 1], part) + partText(part)).join("");
}
