import { describe, expect, it } from "vitest";
import { ACL_TEMPLATES } from "@/generated/settings";
import type { AclTemplate } from "@/lib/access";
import { access } from "@/words/en/access";
import { aclSummary, resourceWords } from "@/lib/acl-words";
import {
  type AclInput,
  BY_HAND,
  EMPTY_ACL,
  aclBindings,
  shortOperation,
  templateBindings,
  templateOf,
  templateWords,
} from "./acl-words";

const template = (name: string) => templateOf(name) as AclTemplate;
const consumer = () =>
  templateBindings(template("consumer"), "User:app", { topic: "demo.", group: "workers" }, ["topic"]);
const byHand = (custom: Partial<AclInput["custom"]>): AclInput => ({
  ...EMPTY_ACL,
  template: BY_HAND,
  custom: { ...EMPTY_ACL.custom, ...custom },
});

describe("access words", () => {
  it("gives a consumer read on topics by prefix and on its group by name", () => {
    expect(consumer().map((acl) => [acl.operation, acl.resource_type, acl.pattern_type])).toEqual([
      ["READ", "TOPIC", "PREFIXED"],
      ["DESCRIBE", "TOPIC", "PREFIXED"],
      ["READ", "GROUP", "LITERAL"],
    ]);
  });

  it("gives a streams application what begins with its id, and leaves out what was not said", () => {
    const rules = templateBindings(template("streams"), "User:app", { application_id: "totals", input: "orders" }, []);
    const names = new Set(rules.map((acl) => resourceWords(acl)));
    expect([...names]).toEqual(["topic orders", "topic totals-*", "group totals", "transactional id totals-*"]);
  });

  it("knows every template of the service, and none makes rules of nothing but the one that asks nothing", () => {
    const empty = ACL_TEMPLATES.map((one) => [one.name, templateBindings(one, "User:app", {}, []).length > 0]);
    expect(empty.filter(([, makes]) => makes).map(([name]) => name)).toEqual(["read-only-admin"]);
  });

  it("makes no rules of a form that says too little", () => {
    expect(aclBindings(EMPTY_ACL, "app")).toBeNull();
    expect(aclBindings({ ...EMPTY_ACL, values: { topic: "demo" } }, " ")).toBeNull();
    expect(aclBindings(byHand({ name: "demo", operations: [] }), "app")).toBeNull();
    expect(aclBindings(byHand({ name: " " }), "app")).toBeNull();
  });

  it("makes one rule for each operation by hand, on the cluster under its own name", () => {
    const acl = byHand({
      permission: "DENY",
      type: "CLUSTER",
      operations: ["ALTER", "CREATE"],
      host: " ",
      prefixed: true,
    });
    expect(aclBindings(acl, " app ")).toEqual(
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
    const bindings = consumer();
    const deny = { ...bindings[0], permission: "DENY", operation: "WRITE" } as (typeof bindings)[number];
    expect(aclSummary([...bindings, deny])).toBe("read, describe, not write demo.*; read group workers");
  });

  it("has a short word for each operation", () => {
    expect(["READ", "DESCRIBE_CONFIGS", "ALTER", "NEW_ONE"].map(shortOperation)).toEqual([
      "read",
      "desc cfg",
      "alter",
      "new one",
    ]);
  });
});

describe("templates in words", () => {
  it("are there for each that the service has, in its words", () => {
    const inService = ACL_TEMPLATES.map(({ name, title, text, asks }) => [
      name,
      { title, text, asks: Object.fromEntries(asks.map((field) => [field.name, field.title])) },
    ]);
    expect(access.aclTemplates).toEqual(Object.fromEntries(inService));
    expect(templateWords("of-tomorrow")).toEqual({ title: "of-tomorrow", text: "", asks: {} });
  });
});
