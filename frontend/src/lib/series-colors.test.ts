import { describe, expect, it } from "vitest";
import { colorsOf } from "./series-colors";

const SIZE = 8;

describe("colours of series", () => {
  it("follow the name, not the place in the list", () => {
    const [orders, sales] = colorsOf(["orders", "sales"], SIZE);
    expect(colorsOf(["sales", "orders"], SIZE)).toEqual([sales, orders]);
    expect(colorsOf(["orders"], SIZE)).toEqual([orders]);
  });

  it("differ while there are enough of them", () => {
    const names = Array.from({ length: SIZE }, (_, at) => `topic-${at}`);
    expect(new Set(colorsOf(names, SIZE)).size).toBe(SIZE);
  });

  it("come again, each about as often, where there are more series than colours", () => {
    const names = Array.from({ length: 3 * SIZE }, (_, at) => `topic-${at}`);
    const found = colorsOf(names, SIZE);
    for (let color = 0; color < SIZE; color += 1) expect(found.filter((one) => one === color)).toHaveLength(3);
  });

  it("are the same for one name that is there twice", () => {
    const [one, other] = colorsOf(["a", "a"], SIZE);
    expect(one).toBe(other);
  });
});
