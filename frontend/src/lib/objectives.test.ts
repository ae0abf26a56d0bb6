import { describe, expect, it } from "vitest";
import { coversWords, inUnits, targetWords, verdictRank } from "./objectives";
import { sharePrecise } from "./shares";

describe("lag objectives in words", () => {
  it("keeps the nines of a share", () => {
    expect([0.5, 0.99, 0.9995, 0.99999].map(sharePrecise)).toEqual(["50 %", "99 %", "99.95 %", "99.999 %"]);
    expect(targetWords({ seconds: 5400, share: 0.999 })).toBe("at most 1h 30m behind for 99.9 % of the time");
  });

  it("says what is covered", () => {
    expect(coversWords({ match: "literal", group: null, topic: null }, null)).toBe(
      "every group on every topic, every cluster",
    );
    expect(coversWords({ match: "prefix", group: "team-", topic: "t" }, "cluster demo")).toBe(
      "groups team-… on topic t, cluster demo",
    );
    expect(coversWords({ match: "literal", group: "g", topic: null }, null)).toBe(
      "group g on every topic, every cluster",
    );
  });

  it("offers the largest whole unit", () => {
    expect([0, 45, 60, 90, 7200, 172_800].map(inUnits)).toEqual([
      { amount: 0, unitS: 1 },
      { amount: 45, unitS: 1 },
      { amount: 1, unitS: 60 },
      { amount: 90, unitS: 1 },
      { amount: 2, unitS: 3600 },
      { amount: 2, unitS: 86_400 },
    ]);
  });

  it("ranks what burns first, and what is not known before what is well", () => {
    const all = ["within", "unknown", "slow_burn", "fast_burn"] as const;
    expect(all.toSorted((left, right) => verdictRank(left) - verdictRank(right))).toEqual([
      "fast_burn",
      "slow_burn",
      "unknown",
      "within",
    ]);
  });
});
