import { describe, expect, it } from "vitest";
import { offsets } from "@/testing/samples-throughput";
import { heldOf, OFFSETS_RANGES, offsetsRange, pointsOf, takenOf } from "./offsets";

describe("where a log begins and ends", () => {
  it("is shown over the range of the address, where that is more than a point", () => {
    expect(OFFSETS_RANGES[0]).toBe("6h");
    expect([undefined, "1h", "7d"].map((range) => offsetsRange(range as "1h"))).toEqual(["24h", "24h", "7d"]);
  });

  it("leaves what is not known a gap, also where one of both is", () => {
    const found = offsets({ ts_ms: [0, 1, 2], start_offset: [5, null, 7], end_offset: [9, 10, null] });
    expect(pointsOf(found.ts_ms, found.start_offset)).toEqual([
      [0, 5],
      [1, null],
      [2, 7],
    ]);
    expect(heldOf(found)).toEqual([
      [0, 4],
      [1, null],
      [2, null],
    ]);
  });

  it("says what retention took by the steps forwards: a topic that is made anew gives nothing back", () => {
    expect(takenOf(offsets({ start_offset: [0, null, 10, 0, 5] }))).toBe(15);
    expect(takenOf(offsets({ start_offset: [3, 3] }))).toBe(0);
    expect(takenOf(offsets({ start_offset: [null, 3] }))).toBeNull();
    expect(takenOf(offsets())).toBeNull();
  });
});
