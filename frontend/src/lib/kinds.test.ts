import { describe, expect, it } from "vitest";
import { isKind, kindLabel } from "./kinds";

describe("kinds of operations", () => {
  it("have words", () => {
    expect(kindLabel("offset.reset")).toBe("Reset offsets");
    expect([isKind("topic.create"), isKind("session.login"), isKind("toString")]).toEqual([true, false, false]);
  });
});
