import { words } from "@/words/plans";
import type { Plan, Risk } from "./types";

/** What a plan may cost that does not come back by itself; a risk without words does not pass the type check. */
const RISKS: Record<Risk, string> = words.risks;

const risksOf = (plan: Plan): Risk[] => plan.impact.risks ?? [];

/** Why the name is asked for; empty where nothing is at risk. */
export const risksText = (plan: Plan): string =>
  risksOf(plan)
    .map((risk) => RISKS[risk])
    .join(", ");

/** Plans that may cost something: their confirm button is red. */
export const isRisky = (plan: Plan): boolean => risksOf(plan).length > 0;
