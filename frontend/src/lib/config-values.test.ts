import { describe, expect, it } from "vitest";
import { durationWords, exactValue, sizeWords, unitOf, valueWords } from "./config-values";

describe("values of settings", () => {
  it("have the unit that their key names", () => {
    expect(["retention.ms", "segment.bytes", "min.insync.replicas", "ms", "forms"].map(unitOf)).toEqual([
      "ms",
      "bytes",
      null,
      "ms",
      null,
    ]);
  });

  it("are said in words, and say when they are rounded", () => {
    expect([0, 1, 999, 3_600_000, 604_800_000, 5_400_000, 93_784_001].map(durationWords)).toEqual([
      "0 milliseconds",
      "1 millisecond",
      "999 milliseconds",
      "1 hour",
      "7 days",
      "1 hour 30 minutes",
      "about 1 day 2 hours",
    ]);
    expect([1023, 1024, 1_048_576, 1_048_588, 1_610_612_736].map(sizeWords)).toEqual([
      "1,023 B",
      "1 KiB",
      "1 MiB",
      "about 1 MiB",
      "1.5 GiB",
    ]);
  });

  it("know Kafka's numbers for no limit, and leave alone what is no number", () => {
    expect(valueWords("retention.ms", "-1")).toBe("for ever");
    expect(valueWords("retention.bytes", "-1")).toBe("no limit");
    expect(valueWords("flush.ms", "9223372036854775807")).toBe("no limit");
    expect(valueWords("local.retention.ms", "-2")).toBeNull();
    expect(valueWords("segment.jitter.ms", "0")).toBeNull();
    expect(valueWords("cleanup.policy", "compact")).toBeNull();
    expect([null, undefined, "", "soon"].map((value) => valueWords("retention.ms", value))).toEqual(
      Array(4).fill(null),
    );
  });

  it("stay exact: no digit of a large number is lost", () => {
    expect(exactValue("flush.ms", "9223372036854775807")).toBe("9223372036854775807 ms");
    expect(exactValue("cleanup.policy", "delete")).toBe("delete");
  });
});
