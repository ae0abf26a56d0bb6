import { describe, expect, it } from "vitest";
import type { AclBinding } from "./types";
import { whoMay } from "./who-may";

const rule = (principal: string, fields: Partial<AclBinding> = {}): AclBinding =>
  ({
    principal,
    host: "*",
    operation: "READ",
    permission: "ALLOW",
    resource_type: "TOPIC",
    resource_name: "sales",
    pattern_type: "LITERAL",
    ...fields,
  }) as AclBinding;
const said = (...rules: AclBinding[]) =>
  whoMay(rules).map(({ principal, produce, consume }) => [principal, produce, consume]);

describe("who may produce and consume", () => {
  it("follows from READ, WRITE and ALL alone", () => {
    expect(
      said(
        rule("User:r"),
        rule("User:w", { operation: "WRITE" }),
        rule("User:all", { operation: "ALL" }),
        rule("User:d", { operation: "DESCRIBE" }),
      ),
    ).toEqual([
      ["User:all", "yes", "yes"],
      ["User:d", "none", "none"],
      ["User:r", "none", "yes"],
      ["User:w", "yes", "none"],
    ]);
  });

  it("is denied by a rule against it, whatever allows it, also one against everybody", () => {
    expect(said(rule("User:r"), rule("User:r", { permission: "DENY" }))).toEqual([["User:r", "none", "no"]]);
    expect(said(rule("User:r"), rule("User:*", { permission: "DENY", operation: "ALL" }))).toEqual([
      ["User:*", "no", "no"],
      ["User:r", "no", "no"],
    ]);
  });

  it("holds for everybody where a rule says so", () => {
    const [, app] = whoMay([rule("User:*"), rule("User:app", { operation: "WRITE" })]);
    expect([app?.produce, app?.consume, app?.rules.length]).toEqual(["yes", "yes", 2]);
  });

  it("is of some hosts where rules name hosts", () => {
    expect(said(rule("User:r", { host: "10.0.0.1" }))).toEqual([["User:r", "none", "some"]]);
    expect(said(rule("User:r"), rule("User:r", { permission: "DENY", host: "10.0.0.1" }))).toEqual([
      ["User:r", "none", "some"],
    ]);
    expect(said(rule("User:r", { permission: "DENY", host: "10.0.0.1" }))).toEqual([["User:r", "none", "no"]]);
  });
});
