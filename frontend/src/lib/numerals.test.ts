import { afterEach, expect, it } from "vitest";
import * as en from "@/words/en";
import { speakIn } from "@/words/shown";
import { formatBytes, formatCost, formatDuration, formatInteger, formatRecordRate } from "./format";
import { exactly } from "./quantities";
import { formatShare, sharePrecise } from "./shares";

afterEach(() => speakIn(null));

it("writes numbers as the language does", () => {
  const said = () => [
    formatInteger(1_234_567),
    formatBytes(1_536),
    formatDuration(2.5),
    formatRecordRate(0.25),
    formatCost("1234.5", "EUR"),
    formatShare(0.125),
    sharePrecise(0.9995),
    exactly("spanMs", 1_234.5),
  ];
  expect(said()).toEqual(["1,234,567", "1.5 KiB", "2.5s", "0.25/s", "1,234.50 EUR", "12.5 %", "99.95 %", "1,234.5 ms"]);
  speakIn({ tag: "de", words: en });
  expect(said()).toEqual(["1.234.567", "1,5 KiB", "2,5s", "0,25/s", "1.234,50 EUR", "12,5 %", "99,95 %", "1.234,5 ms"]);
});
