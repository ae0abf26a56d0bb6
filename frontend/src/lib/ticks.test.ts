import { describe, expect, it } from "vitest";
import { formatBytes, formatCompact, formatDuration } from "./format";
import { ticks } from "./ticks";

const to = (top: number | null) => [
  {
    points: [
      [0, 1],
      [1, top],
    ] as [number, number | null][],
  },
];
const GIB = 1024 ** 3;

describe("ticks", () => {
  it.each([
    [0.5, 1, 1],
    [13.8 * 3600, 14_400, 57_600],
    [1000, 300, 1200],
    [40 * 86_400, 8 * 86_400, 40 * 86_400],
  ])("of a time of %d s stand every %d s, up to %d s", (top, interval, max) => {
    expect(ticks(formatDuration, to(top))).toEqual({ interval, max });
  });

  it.each([
    [0, 1, 1],
    [5.6 * GIB, 2 * GIB, 6 * GIB],
    [900 * 1024, 200 * 1024, 1000 * 1024],
    [900 * GIB, 200 * GIB, 1000 * GIB],
  ])("of %d bytes stand every %d, up to %d", (top, interval, max) => {
    expect(
      ticks(
        formatBytes,
        to(top).map((line) => ({ points: line.points.slice(1) })),
      ),
    ).toEqual({ interval, max });
  });

  it("of counts are the chart's own, and what is not known has no height", () => {
    expect(ticks(formatCompact, to(12))).toEqual({});
    expect(ticks(formatDuration, [{ points: [[0, null]] }])).toEqual({ interval: 1, max: 1 });
  });
});
