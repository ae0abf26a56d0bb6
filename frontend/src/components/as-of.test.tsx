import { act, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AsOf } from "./as-of";

describe("the age of numbers", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: Date.parse("2026-11-21T10:00:30Z") });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("is said, and that they are stale as soon as newer ones were due", () => {
    render(<AsOf at="2026-11-21T10:00:00Z" staleAfter="2026-11-21T10:01:00Z" />);
    expect(document.body.textContent).toMatch(/^as of /);
    act(() => void vi.advanceTimersByTime(29_000));
    expect(screen.queryByText(/stale/)).toBeNull();
    act(() => void vi.advanceTimersByTime(10_000));
    expect(document.body.textContent).toMatch(/^stale: as of /);
  });

  it("is nothing where there are no numbers", () => {
    render(<AsOf at={null} staleAfter={null} />);
    expect(document.body.textContent).toBe("");
  });

  it("is never stale where nobody says when", () => {
    render(<AsOf at="2020-01-01T00:00:00Z" staleAfter={undefined} />);
    expect(document.body.textContent).toMatch(/^as of /);
  });
});
