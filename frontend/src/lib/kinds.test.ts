import { describe, expect, it } from "vitest";
import { isDestructive, isKind, kindLabel } from "./kinds";

describe("kinds of operations", () => {
  it("have words", () => {
    expect(kindLabel("offset.reset")).toBe("Reset offsets");
    expect([isKind("topic.create"), isKind("session.login"), isKind("toString")]).toEqual([true, false, false]);
  });

  it("are red where they delete", () => {
    expect(["topic.delete", "acl.delete", "topic.create", "offset.reset"].map(isDestructive)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
