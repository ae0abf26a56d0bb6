import { describe, expect, it } from "vitest";
import { isKind, kindLabel, kindWithin } from "./kinds";

describe("kinds of operations", () => {
  it("have words", () => {
    expect(kindLabel("offset.reset")).toBe("Reset offsets");
    expect([kindWithin("offset.reset"), kindWithin("acl.create")]).toEqual(["reset offsets", "add ACLs"]);
    expect([isKind("topic.create"), isKind("session.login"), isKind("toString")]).toEqual([true, false, false]);
  });
});
