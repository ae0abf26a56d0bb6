import { expect, it } from "vitest";
import { knownShare, linesOf } from "./charts";

const series = [
  { topic: "sales", group: "readers", typical: [1, null, 3], highest: [2, null, 9], known: [1, null, 0.5] },
];

it("draws what is typical and the peak, with gaps where nothing is known", () => {
  expect(linesOf({ ts_ms: [10, 20, 30], series })).toEqual([
    {
      name: "sales",
      points: [
        [10, 1],
        [20, null],
        [30, 3],
      ],
    },
    {
      name: "sales, peak",
      points: [
        [10, 2],
        [20, null],
        [30, 9],
      ],
    },
  ]);
});

it("says how much is known, and nothing of no series", () => {
  expect(knownShare({ series })).toBe(0.5);
  expect(knownShare({ series: [] })).toBeNull();
});
