/** What is not as it was left, in the language that is shown. */
import { words } from "@/words/differences";
import { filled } from "./templates";
import type { Difference } from "./types";

const SENTENCES: Readonly<Record<string, string>> = words;

/** The service's own text where its code is not known here, or takes other parameters. */
export function differenceText({ text, text_code, params }: Pick<Difference, "text" | "text_code" | "params">): string {
  const template = SENTENCES[text_code];
  return (template && filled(template, params)) ?? text;
}
