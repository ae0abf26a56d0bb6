import { describe, expect, it } from "vitest";
import { type AclInput, EMPTY_ACL, aclBindings, aclSummary, templateBindings } from "./acl-words";

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

  it("makes no rules of a form that says too little", () => {
    expect(aclBindings(EMPTY_ACL, "app")).toBeNull();
    expect(aclBindings({ ...EMPTY_ACL, name: "demo" }, " ")).toBeNull();
    const bare = { ...EMPTY_ACL.custom, operations: [] };
    expect(aclBindings({ ...EMPTY_ACL, purpose: "custom", name: "demo", custom: bare }, "app")).toBeNull();
  });

  it("makes one rule for each operation by hand, on the cluster under its own name", () => {
    const custom: AclInput["custom"] = {
      permission: "DENY",
      type: "CLUSTER",
      operations: ["ALTER", "CREATE"],
      host: " ",
    };
    expect(aclBindings({ ...EMPTY_ACL, purpose: "custom", prefixed: true, custom }, " app ")).toEqual(
      ["ALTER", "CREATE"].map((operation) => ({
        principal: "User:app",
        host: "*",
        operation,
        permission: "DENY",
        resource_type: "CLUSTER",
        resource_name: "kafka-cluster",
        pattern_type: "LITERAL",
      })),
    );
  });

  it("sums a principal's rules up by resource, denials said as such", () => {
    const bindings = templateBindings("consume", target);
    const deny = { ...bindings[0], permission: "DENY", operation: "WRITE" } as (typeof bindings)[number];
    expect(aclSummary([...bindings, deny])).toBe("read, describe, not write demo.*; read group workers");
  });
});
