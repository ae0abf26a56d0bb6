import { describe, expect, it } from "vitest";
import { timelineEvent } from "@/testing/samples";
import { askedFor, marksOf, rangeOf } from "./chart-events";
import type { TimelineEvent } from "./types";

const FROM = Date.parse("2026-11-21T10:00:00Z");
const HOUR = 3_600_000;
const at = (minutes: number, tone: TimelineEvent["tone"] = "neutral") =>
  timelineEvent({ id: `ev_${minutes}`, at: new Date(FROM + minutes * 60_000).toISOString(), tone });
const range = { from: FROM, to: FROM + HOUR };

describe("the time of a chart", () => {
  it("is from the first to the last point of all lines, gaps counted", () => {
    expect(
      rangeOf([
        {
          points: [
            [5, 1],
            [9, null],
          ],
        },
        {
          points: [
            [2, null],
            [7, 3],
          ],
        },
      ]),
    ).toEqual({ from: 2, to: 9 });
  });

  it.each([[[]], [[{ points: [] }]], [[{ points: [[3, 1] as [number, number]] }]]])("is unknown of %j", (series) => {
    expect(rangeOf(series)).toBeNull();
  });
});

describe("what a chart asks for", () => {
  it("is in whole minutes, so that one that slides asks the same for a while", () => {
    const first = askedFor({ clusterId: "c1" }, { from: FROM + 1, to: FROM + HOUR + 1 });
    expect([first.from, first.to]).toEqual(["2026-11-21T10:00:00.000Z", "2026-11-21T11:01:00.000Z"]);
    expect(askedFor({ clusterId: "c1" }, { from: FROM + 9_000, to: FROM + HOUR + 9_000 })).toEqual(first);
  });

  it("is all of the cluster, or what it is about beside the cluster itself, a bounded number", () => {
    expect(askedFor({ clusterId: "c1" }, range).subject).toBeUndefined();
    expect(askedFor({ clusterId: "c1", subjects: ["topic/a"] }, range).subject).toEqual(["cluster", "topic/a"]);
    const many = Array.from({ length: 40 }, (_, index) => `topic/${index}`);
    expect(askedFor({ clusterId: "c1", subjects: many }, range).subject).toHaveLength(10);
  });

  it("has an operation once", () => {
    const kinds = askedFor({ clusterId: "c1" }, range).kind.split(",");
    expect(kinds).toContain("operation-ended");
    expect(kinds).not.toContain("operation-began");
  });
});

describe("marks", () => {
  it("are numbered as the list is", () => {
    expect(marksOf([at(50, "bad"), at(30), at(10, "good")], range)).toEqual([
      { at: FROM + 50 * 60_000, tone: "bad", label: "1" },
      { at: FROM + 30 * 60_000, tone: "neutral", label: "2" },
      { at: FROM + 10 * 60_000, tone: "good", label: "3" },
    ]);
  });

  it("that would touch are one, in the colour of the worst", () => {
    const found = marksOf([at(30.5, "good"), at(30.2, "bad"), at(30, "warn"), at(10)], range);
    expect(found.map(({ label, tone }) => [label, tone])).toEqual([
      ["1–3", "bad"],
      ["4", "neutral"],
    ]);
  });

  it("outside of the range are not drawn, and keep their numbers", () => {
    expect(marksOf([at(70), at(20), at(-5)], range).map(({ label }) => label)).toEqual(["2"]);
  });

  it("of a time that is none are left out", () => {
    expect(marksOf([timelineEvent({ at: "never" })], range)).toEqual([]);
  });
});
