import { act, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Hint } from "./hint";

const target = () => screen.getByRole("button");
const wait = () => act(() => vi.advanceTimersByTime(300));

describe("a hint", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("shows under the pointer after a moment, describes its target, and goes with the pointer", () => {
    render(
      <Hint label="All brokers serve.">
        <button>Running</button>
      </Hint>,
    );
    fireEvent.pointerEnter(target());
    expect(screen.queryByRole("tooltip")).toBeNull();
    wait();
    const tooltip = screen.getByRole("tooltip");
    expect(tooltip.textContent).toBe("All brokers serve.");
    expect(target().getAttribute("aria-describedby")).toBe(tooltip.id);
    fireEvent.pointerLeave(target());
    expect(screen.queryByRole("tooltip")).toBeNull();
    expect(target().hasAttribute("aria-describedby")).toBe(false);
  });

  it("is never seen by who only passes over it", () => {
    render(
      <Hint label="Passing">
        <button>Here</button>
      </Hint>,
    );
    fireEvent.pointerEnter(target());
    fireEvent.pointerLeave(target());
    wait();
    expect(screen.queryByRole("tooltip")).toBeNull();
  });

  it("shows at the focus, and Escape puts it away; the target's own handlers go on", () => {
    const onFocus = vi.fn();
    render(
      <Hint label="Copies it">
        <button onFocus={onFocus}>Copy</button>
      </Hint>,
    );
    fireEvent.focus(target());
    wait();
    expect(screen.getByRole("tooltip")).toBeTruthy();
    expect(onFocus).toHaveBeenCalledTimes(1);
    fireEvent.keyDown(window, { key: "Escape" });
    expect(screen.queryByRole("tooltip")).toBeNull();
  });

  it("shows text as text", () => {
    render(
      <Hint label={"<img src=x onerror=alert(1)>"}>
        <button>Hostile</button>
      </Hint>,
    );
    fireEvent.focus(target());
    wait();
    expect(screen.getByRole("tooltip").innerHTML).toBe("&lt;img src=x onerror=alert(1)&gt;");
  });
});
