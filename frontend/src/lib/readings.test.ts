import { expect, it } from "vitest";
import { formatShare, inUnit, readingLabel, readingValue } from "./readings";

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
  ["live", true, "live", "yes"],
])("reads %s %j", (name, value, label, text) => {
  expect([readingLabel(name), readingValue(name, value)]).toEqual([label, text]);
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
