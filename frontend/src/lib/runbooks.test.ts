import { expect, it } from "vitest";
import { alert } from "@/testing/samples-alerts";
import { runbook } from "@/testing/samples-runbooks";
import { blankValue, missingFor, startOf, subjectsOf, wantedBy } from "./runbooks";

it.each([
  ["for_s", "3600", 3600],
  ["partitions", " 12 ", 12],
  ["topic", "123", "123"],
  ["reason", "a group is behind", "a group is behind"],
  ["target_brokers", "1, 2 3", [1, 2, 3]],
  ["target_brokers", "4", [4]],
  ["retention_ms", "two weeks", "two weeks"],
])("what is typed into %s: %j", (name, typed, expected) => {
  expect(blankValue(name, typed)).toEqual(expected);
});

it("asks for what checks and acts want to know, in one order", () => {
  expect(wantedBy(runbook())).toEqual(["cluster", "group", "topic", "broker"]);
});

it("takes the subject from the alert; a single broker is named", () => {
  expect(subjectsOf(alert())).toMatchObject({ cluster: "c1", group: "readers", topic: "sales" });
  expect(subjectsOf(alert({ subject: "", values: {}, unit: "brokers", members: ["2"] })).broker).toBe("2");
  expect(subjectsOf(alert({ unit: "brokers", members: ["1", "2"], member_count: 2 })).broker).toBeUndefined();
});

it("leaves out what is not known", () => {
  expect(startOf({ cluster: "c1", group: "", broker: "0" }, undefined)).toEqual({ cluster_id: "c1", broker: 0 });
});

it("knows what a check lacks in a run", () => {
  const check = runbook().sections[1]?.parts[2];
  if (!check) throw new Error("the sample has a third check");
  expect(missingFor(check, { cluster_id: "c1", context: {} })).toEqual(["broker"]);
  expect(missingFor(check, { cluster_id: null, context: { broker: 0 } })).toEqual(["cluster"]);
});
