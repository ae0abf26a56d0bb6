import { shown } from "./shown";
import { stepDetails } from "./en/step-details";

/** What steps say while they run and when they have ended; an operation's page says it. */
export const words = shown("stepDetails", stepDetails);
