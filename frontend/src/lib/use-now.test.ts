import { act, renderHook } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { useNow } from "./use-now";

describe("the shared clock", () => {
  afterEach(() => vi.useRealTimers());

  it("moves for all who look, every few seconds, and stops with the last of them", () => {
    vi.useFakeTimers();
    const one = renderHook(useNow);
    const other = renderHook(useNow);
    const start = one.result.current;
    act(() => vi.advanceTimersByTime(5_000));
    expect([one.result.current, other.result.current]).toEqual([start + 5_000, start + 5_000]);
    one.unmount();
    expect(vi.getTimerCount()).toBe(1);
    other.unmount();
    expect(vi.getTimerCount()).toBe(0);
  });
});
