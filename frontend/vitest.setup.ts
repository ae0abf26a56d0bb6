/** For tests that render: what Mantine asks of a browser and jsdom lacks, and a clean page after each. */
import { cleanup, configure } from "@testing-library/react";
import { afterEach, beforeEach, expect, vi } from "vitest";
import { inexactNumbers } from "@/testing/numbers";
import { isOfServer } from "@/testing/server";

// Charts are drawn by a library that measures text on a canvas; tests see a chart's name and its lines.
vi.mock("@/components/charts/echart", async () => await import("@/testing/echart"));

// What a test waits for comes when it comes: a page with Mantine in jsdom takes seconds on a busy machine.
configure({ asyncUtilTimeout: 15_000 });

beforeEach(() => {
  sessionStorage.clear();
  localStorage.clear();
  vi.stubGlobal("scrollTo", () => undefined);
  // A text area that grows listens for fonts that arrive late.
  Object.defineProperty(document, "fonts", { configurable: true, value: new EventTarget() });
  vi.stubGlobal("matchMedia", () => ({
    matches: false,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  }));
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      unobserve() {}
      disconnect() {}
    },
  );
});
afterEach(() => {
  // Every page in every state that a test brings it to: no number is only to be read rounded.
  const inexact = inexactNumbers(document.body, isOfServer);
  cleanup();
  vi.unstubAllGlobals();
  expect(inexact, "numbers without an exact value on hover: show them by <Quantity>").toEqual([]);
});

// jsdom lays nothing out, so it has nothing to scroll; Mantine's lists ask for it a moment later.
Element.prototype.scrollIntoView = () => undefined;
