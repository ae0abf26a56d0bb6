import { act, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeEventSource, fakeEvents } from "@/testing/events";
import { useEvents } from "./live";

describe("live events", () => {
  let stream: ReturnType<typeof fakeEvents>;
  beforeEach(() => {
    vi.useFakeTimers();
    stream = fakeEvents();
  });
  afterEach(() => vi.useRealTimers());

  it("hand over each event by its name, and report whether the stream is up", () => {
    const seen = vi.fn();
    const { result } = renderHook(() => useEvents("/events", seen, ["operations", "clusters"]));
    expect(result.current).toBe(false);
    act(() => stream("/events").connect());
    expect(result.current).toBe(true);
    act(() => stream("/events").send("clusters", { topic: "clusters" }));
    expect(seen).toHaveBeenCalledExactlyOnceWith("clusters", { topic: "clusters" });
  });

  it("open a new stream only after the browser gave the old one up", () => {
    const { result } = renderHook(() => useEvents("/events", () => undefined, ["a"]));
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
      ({ url }: { url: string | null }) => useEvents(url, () => undefined, ["a"]),
      { initialProps: { url: null as string | null } },
    );
    expect(FakeEventSource.opened).toHaveLength(0);
    rerender({ url: "/events" });
    const opened = stream("/events");
    unmount();
    expect(opened.readyState).toBe(FakeEventSource.CLOSED);
  });
});
