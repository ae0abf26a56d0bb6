/** What self-healing says of a decision or a case, in the language that is shown. */
import { words as names } from "@/words";
import { words } from "@/words/healing-said";
import type { Healing, HealingCase } from "./healing";
import { textOf } from "./said";
import type { Phrases } from "./templates";

const PHRASES: Phrases = { kind: names.kinds };

type Said = Pick<NonNullable<Healing["decision"]> | HealingCase, "text" | "parts">;

/** What was decided, and why. */
export const healingText = ({ text, parts }: Said): string => textOf(words, parts, text, PHRASES);
