import { describe, expect, it } from "vitest";
import { lineOf, throughput } from "@/testing/samples-throughput";
import { formatByteRate, formatRecordRate } from "./format";
import { knownShare, lineEach, linesOf, rangeOf, rangesOf } from "./throughput";

describe("ranges", () => {
  it("are those that are kept of the subject", () => {
    expect(rangesOf("cluster")).toContain("90d");
    expect(rangesOf("broker")).toEqual(["1h", "6h", "24h"]);
    expect(rangesOf("partition")).toContain("90d");
  });

  it("fall back to the last hour", () => {
    expect(rangeOf("broker", "7d")).toBe("1h");
    expect(rangeOf("topic", "7d")).toBe("7d");
    expect(rangeOf("topic", undefined)).toBe("1h");
  });
});

describe("lines", () => {
  const found = throughput({
    ts_ms: [0, 30_000],
    series: [lineOf([1, null], { broker: 2 }), lineOf([null, null], { broker: 3 })],
  });

  it("are named by what they are of; one of which nothing is known is left out", () => {
    expect(lineEach(found, "records_in_per_s")).toEqual([
      {
        name: "broker 2",
        points: [
          [0, 1],
          [30_000, null],
        ],
      },
    ]);
  });

  it.each([
    [{ partition: 4, topic: "orders" }, "partition 4"],
    [{ group: "billing", topic: "orders" }, "orders"],
    [{ topic: "orders" }, "orders"],
    [{}, "all"],
  ])("have names (%o)", (fields, name) => {
    const one = throughput({ ts_ms: [0], series: [lineOf([1], fields)] });
    expect(lineEach(one, "records_in_per_s").map((line) => line.name)).toEqual([name]);
  });

  it("are none of nothing", () => {
    expect(linesOf(throughput(), [{ name: "written", measure: "records_in_per_s" }])).toEqual([]);
    expect(knownShare(throughput())).toBeNull();
  });

  it("leave what was not seen at all out of the known share", () => {
    expect(knownShare(found)).toBe(1);
  });
});

describe("rates", () => {
  it.each([
    [null, "–"],
    [0, "0/s"],
    [0.001, "< 0.01/s"],
    [0.256, "0.256/s"],
    [14, "14/s"],
    [1234.5, "1,235/s"],
    [1_234_567, "1.23M/s"],
  ])("of records have few digits (%s)", (value, text) => {
    expect(formatRecordRate(value)).toBe(text);
  });

  it("of bytes have their unit", () => {
    expect(formatByteRate(2048)).toBe("2 KiB/s");
    expect(formatByteRate(null)).toBe("–");
  });
});
