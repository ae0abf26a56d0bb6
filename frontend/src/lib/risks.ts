import type { Plan, Risk } from "./types";

/** What a plan may cost that does not come back by itself; a risk without words does not pass the type check. */
const RISKS: Record<Risk, string> = {
  "loses-data": "records may be lost",
  "loses-access": "clients may lose access",
  "opens-access": "others may get access",
  "skips-records": "records may never be read",
  "fills-disk": "a disk may fill up",
};

const risksOf = (plan: Plan): Risk[] => plan.impact.risks ?? [];

/** Why the name is asked for; empty where nothing is at risk. */
export const risksText = (plan: Plan): string =>
  risksOf(plan)
    .map((risk) => RISKS[risk])
    .join(", ");

/** Plans that may cost something: their confirm button is red. */
export const isRisky = (plan: Plan): boolean => risksOf(plan).length > 0;
