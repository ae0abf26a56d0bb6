import { describe, expect, it } from "vitest";
import { grantSummary, templateBindings } from "./acl-words";

const target = { principal: "User:app", name: "demo.", prefixed: true, group: "workers" };

describe("access words", () => {
  it("gives a consumer read on topics by prefix and on its group by name", () => {
    const bindings = templateBindings("consume", target);
    expect(bindings.map((acl) => [acl.operation, acl.resource_type, acl.pattern_type])).toEqual([
      ["READ", "TOPIC", "PREFIXED"],
      ["DESCRIBE", "TOPIC", "PREFIXED"],
      ["READ", "GROUP", "LITERAL"],
    ]);
  });

  it("sums a principal's rules up by resource, denials said as such", () => {
    const bindings = templateBindings("consume", target);
    const deny = { ...bindings[0], permission: "DENY", operation: "WRITE" } as (typeof bindings)[number];
    expect(grantSummary([...bindings, deny])).toBe("read, describe, not write demo.*; read group workers");
  });
});
