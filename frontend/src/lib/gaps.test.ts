import { describe, expect, it } from "vitest";
import { withGaps } from "./gaps";

describe("points with gaps", () => {
  it("are broken where the next one is much later than usual", () => {
    expect(
      withGaps([
        [0, 1],
        [30, 2],
        [60, 3],
        [160, 4],
        [190, 5],
      ]),
    ).toEqual([
      [0, 1],
      [30, 2],
      [60, 3],
      [110, null],
      [160, 4],
      [190, 5],
    ]);
  });

  it("are joined over a late one", () => {
    const late: [number, number][] = [
      [0, 1],
      [30, 2],
      [100, 3],
      [130, 4],
    ];
    expect(withGaps(late)).toEqual(late);
  });

  it.each([[[]], [[[7, 1]]]] as [number, number][][][])("leave %j alone", (points) => {
    expect(withGaps(points)).toEqual(points);
  });
});
