import { describe, expect, it } from "vitest";
import {
  formatAmount,
  formatBytes,
  formatCompact,
  formatCost,
  formatDuration,
  formatDurationMs,
  formatExact,
  formatInteger,
  formatRelative,
  toDate,
} from "./format";

describe("format", () => {
  it("writes bytes in binary units", () => {
    expect(formatBytes(0)).toBe("0 B");
    expect(formatBytes(1023)).toBe("1,023 B");
    expect(formatBytes(1024)).toBe("1 KiB");
    expect(formatBytes(100 * 1024)).toBe("100 KiB");
    expect(formatBytes(1536 * 1024)).toBe("1.5 MiB");
    expect(formatBytes(-2048)).toBe("−2 KiB");
    expect(formatBytes(1024 ** 6)).toBe("1024 PiB");
  });

  it("keeps small counts exact and shortens large ones", () => {
    expect(formatCompact(9999)).toBe("9,999");
    expect(formatCompact(100_000)).toBe("100k");
    expect(formatCompact(1_234_567)).toBe("1.23M");
    expect(formatCompact(1_200_000)).toBe("1.2M");
    expect(formatCompact(-5e12)).toBe("-5T");
  });

  it("writes durations with two units at most", () => {
    expect(formatDuration(0)).toBe("0s");
    expect(formatDuration(0.25)).toBe("250ms");
    expect(formatDuration(2.5)).toBe("2.5s");
    expect(formatDuration(60)).toBe("1m");
    expect(formatDuration(93_784)).toBe("1d 2h");
    expect(formatDuration(604_800)).toBe("7d");
    expect(formatDuration(-90)).toBe("−1m 30s");
    expect(formatDurationMs(90_000)).toBe("1m 30s");
  });

  it("writes a dash for what is not known, never a zero", () => {
    for (const format of [formatBytes, formatCompact, formatDuration, formatDurationMs, formatInteger]) {
      expect([format(null), format(undefined), format(Number.NaN)]).toEqual(["–", "–", "–"]);
    }
  });

  it("speaks of past and future", () => {
    const now = 1_000_000_000_000;
    expect(formatRelative(new Date(now - 2000), now)).toBe("just now");
    expect(formatRelative(new Date(now - 3_660_000), now)).toBe("1h ago");
    expect(formatRelative(new Date(now + 120_000), now)).toBe("in 2m");
  });

  it("reads moments, and nothing that is none", () => {
    expect(toDate("2026-11-21T10:00:00Z")?.getTime()).toBe(1_795_255_200_000);
    expect(toDate(1_795_255_200_000)?.toISOString()).toBe("2026-11-21T10:00:00.000Z");
    expect([toDate(null), toDate(undefined), toDate(""), toDate("yesterday")]).toEqual([null, null, null, null]);
    expect(formatExact(new Date("2026-11-21T10:00:05Z"))).toMatch(/\(2026-11-21T10:00:05Z\)$/);
  });

  it("writes amounts in three digits, large ones whole and grouped", () => {
    expect([0, 0.5, 12.345, 999.4, 3755.09, 1_234_567.8].map(formatAmount)).toEqual([
      "0",
      "0.500",
      "12.3",
      "999",
      "3,755",
      "1,234,568",
    ]);
    expect([999.49, 999.5, 999.9, -999.7, 1000].map(formatAmount)).toEqual([
      "999",
      "1,000",
      "1,000",
      "-1,000",
      "1,000",
    ]);
    expect([0.0004, -0.0004, null].map(formatAmount)).toEqual(["< 0.001", "> −0.001", "–"]);
  });

  it("writes costs to the cent, and a fraction of one as what it is, not as nothing", () => {
    expect(formatCost("2.281178", "EUR")).toBe("2.28 EUR");
    expect(formatCost("12345.5", "EUR")).toBe("12,345.50 EUR");
    expect(formatCost("0", "EUR")).toBe("0.00 EUR");
    expect(formatCost("0.00042", "EUR")).toBe("0.00042 EUR");
    expect(formatCost("0.00000042", "EUR")).toBe("0.00000042 EUR");
    expect(formatCost("0.0000004268", "EUR")).toBe("0.00000043 EUR");
    expect(formatCost("0.0000999", "EUR")).toBe("0.0001 EUR");
    expect(formatCost(null, null)).toBe("not known");
  });
});
