/** Which retention of a ladder is looked at, and how it compares with the present one. */

interface Rung {
  retention_s: number;
}

/** A retention below 0 is for ever. */
const isForEver = (nowMs: number): boolean => nowMs < 0;

export const isNow = (rung: Rung, nowMs: number | null): boolean => nowMs === rung.retention_s * 1000;

/** Whether records would be kept longer than now; so too where the present retention is not known. */
export const isLonger = (rung: Rung, nowMs: number | null): boolean =>
  nowMs === null || (!isForEver(nowMs) && rung.retention_s * 1000 > nowMs);

/** The one asked for, else the present one, else the next longer one, else the longest. */
export function chosenRung<R extends Rung>(rungs: readonly R[], keepS: number | undefined, nowMs: number | null): R {
  const found =
    rungs.find((rung) => rung.retention_s === keepS) ??
    rungs.find((rung) => isNow(rung, nowMs)) ??
    rungs.find((rung) => isLonger(rung, nowMs)) ??
    rungs.at(-1);
  if (found === undefined) throw new Error("a ladder without rungs");
  return found;
}
