import { expect, it } from "vitest";
import { exactInUnit, inUnit, readingExact, readingLabel, readingValue } from "./readings";
import { formatBudget, formatShare } from "./shares";

it.each([
  ["first_loss_in_s", 2400, "first loss in", "40m"],
  ["took_ms", 1500, "took", "1.5s"],
  ["free_bytes", 2048, "free bytes", "2 KiB"],
  ["used_share", 0.825, "used share", "82.5 %"],
  ["share", 0.194, "share", "19.4 %"],
  ["lag_seconds", 1036.028, "lag", "17m 16s"],
  ["brokers", 1234, "brokers", "1,234"],
  ["rate", 2.34567, "rate", "2.346"],
  ["lag_s", null, "lag", "not known"],
  ["group", "readers", "group", "readers"],
  ["status", "FALLING_BEHIND", "status", "Falling behind"],
  ["risk", "SOMETHING_NEW", "risk", "something new"],
  ["risk", "toString", "risk", "tostring"],
  ["used_share", -0.5, "used share", "−50 %"],
  ["live", true, "live", "yes"],
])("reads %s %j", (name, value, label, text) => {
  expect([readingLabel(name), readingValue(name, value)]).toEqual([label, text]);
});

it("has the exact value of what its words round, and none where they are exact", () => {
  expect([
    readingExact("lag_s", 5400),
    readingExact("used_share", 0.123456),
    readingExact("rate", 2.34567),
    readingExact("brokers", 1234),
    readingExact("lag_s", null),
    exactInUnit(86_400, "s"),
    exactInUnit(0.29, "ratio"),
    exactInUnit(3, "starts"),
    exactInUnit(null, "s"),
  ]).toEqual(["5,400 s", "12.3456 %", "2.34567", null, null, "86,400 s", "29 %", null, null]);
});

it("says how far a budget is overspent", () => {
  expect([0.5, -0.05, -82.333].map(formatBudget)).toEqual(["50 %", "−5 %", "−8,233 %"]);
});

it("puts thresholds in their unit; none is not zero", () => {
  expect([
    inUnit(60, "s"),
    inUnit(0.2, "ratio"),
    inUnit(1024, "bytes"),
    inUnit(3, "starts"),
    inUnit(null, "s"),
  ]).toEqual(["1m", "20 %", "1 KiB", "3 starts", "not set"]);
  expect(inUnit(1, "records")).toBe("1 record");
  expect(formatShare(null)).toBe("–");
});
