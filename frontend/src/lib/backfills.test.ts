import { describe, expect, it } from "vitest";
import { BACKFILL_MAX_S, doneShare, localField, rangeFault } from "./backfills";

describe("a backfill", () => {
  it("says how much is done only where that is known", () => {
    expect(doneShare({ state: "queued", progress: {} })).toBeNull();
    expect(doneShare({ state: "running", progress: { done: 1, total: 0 } })).toBeNull();
    expect(doneShare({ state: "running", progress: { done: 3, total: 4 } })).toBe(0.75);
    expect(doneShare({ state: "running", progress: { done: 9, total: 4 } })).toBe(1);
    expect(doneShare({ state: "succeeded", progress: {} })).toBe(1);
    expect(doneShare({ state: "failed", progress: {} })).toBeNull();
  });

  it.each([
    [Number.NaN, 1, "Say from when and until when."],
    [2, 1, "The end must be after the beginning."],
    [0, BACKFILL_MAX_S * 1000 + 1, "At most 7 days at a time."],
    [11, 12, "The beginning must be in the past."],
    [0, 12, ""],
  ])("of %d to %d is refused with: %s", (from, to, fault) => {
    expect(rangeFault(from, to, 10)).toBe(fault);
  });

  it("offers a moment that a field takes, and gets the same back", () => {
    const date = new Date(2026, 10, 21, 10, 30);
    expect(new Date(localField(date)).getTime()).toBe(date.getTime());
  });
});
