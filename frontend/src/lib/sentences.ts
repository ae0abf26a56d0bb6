/** What the service says by a code, in the language that is shown. A code that a newer service has and this console does not
 * leaves the service's own sentence. */
import { words } from "@/words/sentences";
import { words as summed } from "@/words/summaries";
import { words as warned } from "@/words/warnings";
import { filled, type Phrases } from "./templates";
import type { Extent, Operation, OperationStep, Plan, PlanWarning } from "./types";

const EXTENTS: Readonly<Record<string, string>> = words.extents;
const STEPS: Readonly<Record<string, string>> = words.steps;
const SUMMARIES: Readonly<Record<string, string>> = summed;
const WARNINGS: Readonly<Record<string, string>> = warned.sentences;
type Summed = Pick<Operation, "summary"> & Partial<Pick<Operation | Plan["impact"], "summary_code" | "summary_params">>;
const PHRASES: Phrases = { ...warned.phrases, extents: words.extents };

/** What a plan counts of what it hits: "groups that read it". */
export const extentTitle = ({ code, title }: Pick<Extent, "code" | "title">): string =>
  (code && EXTENTS[code]) || title;

/** What a step of an operation does: "Delete the topic"; one without a title has its name, put as a sentence. */
export const stepTitle = ({ title_code, title, name }: Pick<OperationStep, "title_code" | "title" | "name">): string =>
  (title_code && STEPS[title_code]) || title || labelOf(name);

/** What a plan warns of; of a plan that an earlier version made, or of another sentence, the service's own text. */
export function warningText({ text_code, params, text }: Pick<PlanWarning, "text_code" | "params" | "text">): string {
  const template = text_code === undefined ? undefined : WARNINGS[text_code];
  return (template && filled(template, params ?? {}, PHRASES)) ?? text;
}

/** What a plan or an operation does; of one that an earlier version made, or of another sentence, the service's own text. */
export function summaryText({ summary, summary_code, summary_params }: Summed): string {
  const template = summary_code ? SUMMARIES[summary_code] : undefined;
  return (template && filled(template, summary_params ?? {}, PHRASES)) ?? summary;
}

/** "wait_for_brokers" → "Wait for brokers". */
function labelOf(name: string): string {
  const text = name.replaceAll(/[_.]/g, " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
