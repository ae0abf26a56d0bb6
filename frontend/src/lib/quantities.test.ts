import { describe, expect, it } from "vitest";
import { exactly, inWords } from "./quantities";

describe("a measured number", () => {
  it.each([
    ["bytes", 1_234_567, "1.18 MiB", "1,234,567 bytes"],
    ["bytes", 1, "1 B", "1 byte"],
    ["byteRate", 2048.5, "2 KiB/s", "2,048.5 bytes/s"],
    ["records", 1_234_567, "1.23M", "1,234,567 records"],
    ["recordRate", 0.123_456, "0.123/s", "0.123456 records/s"],
    ["span", 93_784, "1d 2h", "93,784 s"],
    ["spanMs", 604_800_000, "7d", "604,800,000 ms"],
    ["share", 0.123_456, "12.3 %", "12.3456 %"],
    // 0.29 * 100 is 28.999999999999996 in a computer's arithmetic: nobody measured that.
    ["share", 0.29, "29 %", "29 %"],
  ] as const)("%s of %d reads %s and is exactly %s", (of, value, words, exact) => {
    expect(inWords(of, value)).toBe(words);
    expect(exactly(of, value)).toBe(exact);
  });
});
