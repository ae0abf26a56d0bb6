import { describe, expect, it } from "vitest";
import { operation } from "@/testing/samples";
import { percentDone, TERMINAL } from "./operations";

describe("operations", () => {
  it("move no more in their last states, and do in all others", () => {
    expect([...TERMINAL].sort()).toEqual(["cancelled", "failed", "reverted", "succeeded"]);
    expect((["pending", "running", "verifying", "cancelling"] as const).some((state) => TERMINAL.has(state))).toBe(
      false,
    );
  });

  it("are done by a share of their work; with none to do by none", () => {
    expect(percentDone(operation({ progress: { done: 1, total: 4, unit: "steps" } }))).toBe(25);
    expect(percentDone(operation({ progress: { done: 0, total: 0, unit: "" } }))).toBe(0);
  });
});
