import { act, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { useTypedText } from "./use-typed-text";

beforeEach(() => {
  vi.useFakeTimers();
  window.history.replaceState(null, "", "/topics");
});
afterEach(() => {
  vi.useRealTimers();
  window.history.replaceState(null, "", "/");
});

function typed(text: string) {
  const heard = vi.fn();
  const { result } = renderHook(() => useTypedText("", heard));
  act(() => result.current[1](text));
  return { heard, shown: () => result.current[0] };
}

it("is shown at once and heard of after a pause", () => {
  const { heard, shown } = typed("orders");
  expect(shown()).toBe("orders");
  expect(heard).not.toHaveBeenCalled();
  act(() => vi.runAllTimers());
  expect(heard.mock.calls).toEqual([["orders"]]);
});

it("calls nobody back who has gone to another page meanwhile", () => {
  const { heard } = typed("orders");
  window.history.pushState(null, "", "/topics/orders");
  act(() => vi.runAllTimers());
  expect(heard).not.toHaveBeenCalled();
});
