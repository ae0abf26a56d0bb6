/** What self-healing says of a decision or a case, in the language that is shown. */
import { words as names } from "@/words";
import { words } from "@/words/healing-said";
import type { Healing, HealingCase } from "./healing";
import { inTurn } from "./said";
import type { Phrases } from "./templates";

const PHRASES: Phrases = { kind: names.kinds };

type Said = Pick<NonNullable<Healing["decision"]> | HealingCase, "text" | "parts">;

/** What was decided, and why; what an earlier version kept, or had to be cut, is the service's own text. */
export const healingText = ({ text, parts }: Said): string =>
  parts.length === 0 ? text : inTurn(words, parts, PHRASES);
