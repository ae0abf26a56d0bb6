/** What is not as it was left, in the language that is shown. */
import { words } from "@/words/differences";
import { words as reasons } from "@/words/drift-reasons";
import { filled, type Params } from "./templates";
import type { Difference } from "./types";

type Sentences = Readonly<Record<string, string>>;
const SENTENCES: Sentences = words;
const PROBLEMS: Sentences = reasons.problems;
const UNREAD: Sentences = reasons.unread;

/** The service's own text where its code is not known here, or takes other parameters. */
export function differenceText({ text, text_code, params }: Pick<Difference, "text" | "text_code" | "params">): string {
  const template = SENTENCES[text_code];
  return (template && filled(template, params)) ?? text;
}

/** Why there is no plan that puts it back; empty where there is one. */
export const backProblem = (
  row: Pick<Difference, "back_problem" | "back_problem_code" | "back_problem_params">,
): string => put(PROBLEMS, row.back_problem_code, row.back_problem_params, row.back_problem);

/** Why there is no plan that takes it over; empty where there is one. */
export const adoptProblem = (
  row: Pick<Difference, "adopt_problem" | "adopt_problem_code" | "adopt_problem_params">,
): string => put(PROBLEMS, row.adopt_problem_code, row.adopt_problem_params, row.adopt_problem);

/** Why audit logs may say more of who made it so; empty where all were read. */
export const unreadText = (who: Pick<Difference["who"], "unread" | "unread_code" | "unread_params">): string =>
  put(UNREAD, who.unread_code, who.unread_params, who.unread);

function put(sentences: Sentences, code: string | null, params: Params, text: string): string {
  const template = code === null ? undefined : sentences[code];
  return (template && filled(template, params)) ?? text;
}
