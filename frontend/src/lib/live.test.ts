import { act, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeEventSource, fakeEvents } from "@/testing/events";
import { useEvents } from "./live";
import type { ChangeEvents } from "./types";

describe("live events", () => {
  let stream: ReturnType<typeof fakeEvents>;
  beforeEach(() => {
    vi.useFakeTimers();
    stream = fakeEvents();
  });
  afterEach(() => vi.useRealTimers());

  it("hand over each event by its name, and report whether the stream is up", () => {
    const seen = vi.fn();
    const other = vi.fn();
    const { result } = renderHook(() => useEvents<ChangeEvents>("/events", { operations: other, clusters: seen }));
    expect(result.current).toBe(false);
    act(() => stream("/events").connect());
    expect(result.current).toBe(true);
    act(() => stream("/events").send("clusters", { topic: "clusters" }));
    expect(seen).toHaveBeenCalledExactlyOnceWith({ topic: "clusters" });
    expect(other).not.toHaveBeenCalled();
  });

  it("go to the handler of the last render, over the same stream", () => {
    const [first, second] = [vi.fn(), vi.fn()];
    const { rerender } = renderHook(({ a }) => useEvents("/events", { a }), { initialProps: { a: first } });
    act(() => stream("/events").connect());
    rerender({ a: second });
    act(() => stream("/events").send("a", 7));
    expect([first.mock.calls, second.mock.calls]).toEqual([[], [[7]]]);
    expect(FakeEventSource.opened).toHaveLength(1);
  });

  it("open a new stream only after the browser gave the old one up", () => {
    const { result } = renderHook(() => useEvents("/events", { a: () => undefined }));
    act(() => stream("/events").connect());
    act(() => stream("/events").fail(false));
    expect(result.current).toBe(false);
    act(() => vi.advanceTimersByTime(60_000));
    expect(FakeEventSource.opened).toHaveLength(1);
    act(() => stream("/events").fail(true));
    act(() => vi.advanceTimersByTime(5_000));
    expect(FakeEventSource.opened).toHaveLength(2);
  });

  it("end with the page, and open nothing without an address", () => {
    const { unmount, rerender } = renderHook(
      ({ url }: { url: string | null }) => useEvents(url, { a: () => undefined }),
      { initialProps: { url: null as string | null } },
    );
    expect(FakeEventSource.opened).toHaveLength(0);
    rerender({ url: "/events" });
    const opened = stream("/events");
    unmount();
    expect(opened.readyState).toBe(FakeEventSource.CLOSED);
  });
});
