/** What follows from an operation's state and progress. */
import { TERMINAL_STATES } from "@/generated/constants";

import type { Operation, OperationState } from "./types";

/** States from which an operation moves no more. */
export const TERMINAL: ReadonlySet<OperationState> = new Set(TERMINAL_STATES);

export const percentDone = ({ progress }: Operation): number =>
  progress.total > 0 ? (100 * progress.done) / progress.total : 0;
