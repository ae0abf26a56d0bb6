import { describe, expect, it } from "vitest";
import { alert } from "@/testing/samples-alerts";
import { aboutOf, byHarm, concerns } from "./alerts";

describe("what an alert is about", () => {
  it.each([
    ["group/a/b", {}, { group: "a/b", topic: undefined, operation: undefined }],
    ["topic/sales", { group: "readers" }, { group: "readers", topic: "sales", operation: undefined }],
    ["operation/op_1", {}, { group: undefined, topic: undefined, operation: "op_1" }],
    ["", { topic: 3 }, { group: undefined, topic: undefined, operation: undefined }],
  ])("%s with %j", (subject, values, expected) => {
    expect(aboutOf({ subject, values })).toEqual(expected);
  });

  it("concerns its subject, what its numbers name, and its members of that kind", () => {
    const found = alert({ subject: "group/readers", values: {}, unit: "topics", members: ["sales"] });
    expect(concerns(found, "group", "readers")).toBe(true);
    expect(concerns(found, "topic", "sales")).toBe(true);
    expect(concerns(found, "group", "sales")).toBe(false);
    expect(concerns(found, "topic", "readers")).toBe(false);
  });
});

it("ranks by harm, then what fires, then the newest", () => {
  const rows = [
    alert({ id: "old", severity: "warning", fired_at: "2026-11-21T09:00:00Z" }),
    alert({ id: "new", severity: "warning", fired_at: "2026-11-21T10:00:00Z" }),
    alert({ id: "taken", severity: "critical", state: "acknowledged" }),
    alert({ id: "info", severity: "info" }),
    alert({ id: "worst", severity: "critical", fired_at: null, started_at: "2026-11-20T10:00:00Z" }),
  ];
  expect(rows.toSorted(byHarm).map((row) => row.id)).toEqual(["worst", "taken", "new", "old", "info"]);
});
