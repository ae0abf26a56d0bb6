import { describe, expect, it } from "vitest";
import { chosenRung, isLonger, isNow } from "./what-if";

const RUNGS = [{ retention_s: 3600 }, { retention_s: 21_600 }, { retention_s: 86_400 }];

describe("a retention on the ladder", () => {
  it.each([
    ["the one asked for", 21_600, 3_600_000, 21_600],
    ["the present one", undefined, 21_600_000, 21_600],
    ["the next longer one", undefined, 7_200_000, 21_600],
    ["the shortest where the present one is not known", undefined, null, 3600],
    ["the longest where records are kept for ever", undefined, -1, 86_400],
    ["the longest where they are kept for longer than that", undefined, 864_000_000, 86_400],
    ["the present one where what was asked for is not there", 42, 3_600_000, 3600],
  ])("is %s", (_, keepS, nowMs, wanted) => {
    expect(chosenRung(RUNGS, keepS, nowMs).retention_s).toBe(wanted);
  });

  it("is longer than now, unless now is for ever", () => {
    const rung = { retention_s: 3600 };
    expect([null, 1000, 3_600_000, 7_200_000, -1].map((nowMs) => isLonger(rung, nowMs))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
    expect([isNow(rung, 3_600_000), isNow(rung, null), isNow(rung, -1)]).toEqual([true, false, false]);
  });
});
