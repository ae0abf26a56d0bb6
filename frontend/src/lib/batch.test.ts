import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { batched } from "./batch";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const lengths = (keys: string[]) =>
  Promise.resolve(new Map(keys.filter((key) => key !== "none").map((k) => [k, k.length])));

describe("questions of many rows", () => {
  it("go together, and each gets its own answer", async () => {
    const ask = vi.fn(lengths);
    const load = batched(ask, { most: 10, waitMs: 20 });
    const all = Promise.all([load("a"), load("bbb"), load("a"), load("none")]);
    await vi.advanceTimersByTimeAsync(20);
    expect(await all).toEqual([1, 3, 1, undefined]);
    expect(ask.mock.calls).toEqual([[["a", "bbb", "none"]]]);
  });

  it("are no more at once than one request takes", async () => {
    const ask = vi.fn(lengths);
    const load = batched(ask, { most: 2, waitMs: 20 });
    const all = Promise.all(["a", "b", "c"].map(load));
    await vi.advanceTimersByTimeAsync(20);
    expect(await all).toEqual([1, 1, 1]);
    expect(ask.mock.calls).toEqual([[["a", "b"]], [["c"]]]);
  });

  it("fail together, and are asked anew the next time", async () => {
    const ask = vi.fn(lengths);
    ask.mockRejectedValueOnce(new Error("late"));
    const load = batched(ask, { most: 10, waitMs: 20 });
    const failed = Promise.allSettled([load("a"), load("b")]);
    await vi.advanceTimersByTimeAsync(20);
    expect((await failed).map((one) => one.status)).toEqual(["rejected", "rejected"]);
    const again = load("a");
    await vi.advanceTimersByTimeAsync(20);
    expect(await again).toBe(1);
  });
});
