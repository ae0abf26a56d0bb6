import { describe, expect, it } from "vitest";
import { LAG_STATUSES, RISKS } from "@/generated/constants";
import { expiry } from "@/testing/samples";
import { lagPoint as point } from "@/testing/samples-groups";
import {
  endangered,
  leastBehind,
  lossExactly,
  lossIn,
  newest,
  seriesByTopic,
  linesByGroup,
  unread,
  worstByGroup,
} from "./lag";

const EARLY = "2026-11-21T09:00:00Z";
const LATE = "2026-11-21T10:01:00Z";

describe("lag", () => {
  it("takes the newest point of each topic whatever the order", () => {
    const late = point({ ts: LATE, lag_records: 5 });
    expect(newest([late, point()])).toEqual([late]);
    expect(newest([point(), late])).toEqual([late]);
  });

  it("lets the worst topic speak for the group, by what is true now", () => {
    const was = point({ topic: "a", status: "STALLED" });
    const is = point({ topic: "a", ts: LATE, status: "CAUGHT_UP" });
    const behind = point({ topic: "b", status: "FALLING_BEHIND", lag_records: 9 });
    expect(worstByGroup([was, is, behind]).get("readers")).toEqual(behind);
  });

  it("lets the longer of two equally bad topics speak", () => {
    const short = point({ topic: "a", lag_records: 1 });
    const long = point({ topic: "b", lag_records: 2 });
    expect(worstByGroup([long, short]).get("readers")).toEqual(long);
    expect(worstByGroup([point({ lag_records: null }), long]).get("readers")).toEqual(long);
  });

  it("keeps gaps as gaps, in order of time, topics by name", () => {
    const series = seriesByTopic(
      [point({ lag_records: null }), point({ ts: EARLY, lag_records: 3 }), point({ topic: "a", lag_records: 1 })],
      "lag_records",
    );
    expect(series.map(({ name, points }) => [name, points.map(([, value]) => value)])).toEqual([
      ["a", [1]],
      ["sales", [3, null]],
    ]);
  });

  const line = (group: string, topic: string, ...typical: (number | null)[]) => ({
    group,
    topic,
    typical,
    highest: typical,
    known: typical.map(() => 1),
  });

  it("sums a group's topics at each moment, and knows nothing where no topic is known", () => {
    const series = [line("readers", "sales", null, 1), line("readers", "b", null, 2), line("a", "b", 7, null)];
    expect(linesByGroup({ ts_ms: [10, 20], series, complete: true })).toEqual([
      {
        name: "a",
        points: [
          [10, 7],
          [20, null],
        ],
      },
      {
        name: "readers",
        points: [
          [10, null],
          [20, 3],
        ],
      },
    ]);
  });

  it("sums nothing where some of a group's topics may be left out", () => {
    const series = [line("readers", "sales", 1), line("readers", "b", 2)];
    expect(linesByGroup({ ts_ms: [10], series, complete: false })).toEqual([
      { name: "readers on b", points: [[10, 2]] },
      { name: "readers on sales", points: [[10, 1]] },
    ]);
  });

  it("says the most that is known for certain of how far groups are behind", () => {
    expect(leastBehind([point({ lag_seconds_at_least: 5 }), point({ topic: "b", lag_seconds_at_least: 9 })])).toBe(9);
    expect(leastBehind([point()])).toBeNull();
  });
});

describe("expiry", () => {
  it("names those in danger, the worst and the soonest first", () => {
    const rows = [
      expiry({ group: "safe", status: "SAFE" }),
      expiry({ group: "watched", status: "WATCH", first_loss_in_s: 1 }),
      expiry({ group: "later", status: "AT_RISK", first_loss_in_s: 50 }),
      expiry({ group: "sooner", status: "AT_RISK", first_loss_in_s: 5 }),
      expiry({ group: "unforeseen", status: "AT_RISK", first_loss_in_s: null }),
      expiry({ group: "losing", status: "LOSING" }),
    ];
    expect(endangered(rows).map((row) => row.group)).toEqual(["losing", "sooner", "later", "unforeseen", "watched"]);
  });

  it("says when the first record is lost", () => {
    expect(lossIn(expiry({ status: "LOSING", first_loss_in_s: 99 }))).toBe("now");
    expect(lossIn(expiry({ first_loss_in_s: null }))).toBe("none in sight");
    expect(lossIn(expiry({ first_loss_in_s: 0 }))).toBe("now");
    expect(lossIn(expiry({ first_loss_in_s: 7200 }))).toBe("in 2h");
    const between = { loss_from: "2026-11-21T10:00:00Z", loss_until: "2026-11-21T11:00:00Z" };
    expect(lossIn(expiry({ ...between, first_loss_in_s: 7200 }))).toBe("in 2h to 3h");
    expect(lossExactly(expiry({ ...between, first_loss_in_s: 7200 }))).toMatch(/^7,200 s to 10,800 s until/);
    expect(lossIn(expiry({ ...between, first_loss_in_s: 0 }))).toBe("within 1h");
    expect(lossIn(expiry({ ...between, loss_until: null, first_loss_in_s: 7200 }))).toBe("in 2h");
    const soon = { ...between, loss_until: "2026-11-21T10:00:01Z" };
    expect(lossIn(expiry({ ...soon, first_loss_in_s: 7200 }))).toBe("in 2h");
  });

  it("takes each status for worse than the one before it", () => {
    LAG_STATUSES.slice(1).forEach((status, index) => {
      const better = point({ topic: "a", status: LAG_STATUSES[index], lag_records: 9 });
      const worse = point({ topic: "b", status });
      expect(worstByGroup([worse, better]).get("readers")).toEqual(worse);
      expect(worstByGroup([better, worse]).get("readers")).toEqual(worse);
    });
  });

  it("says what partitions without a commit hold, as a bound", () => {
    const partial = { uncommitted_partitions: 2, uncommitted_records: 4175 };
    expect(unread(point({ lag_records: 1721 }))).toBe("1,721");
    expect(unread(point({ lag_records: 1721, ...partial }))).toBe("1,721 + up to 4,175 not started");
    expect(unread(point({ lag_records: null, ...partial }))).toBe("up to 4,175 not started");
    expect(unread(point({ lag_records: 5, ...partial, uncommitted_records: null }))).toBe(
      "5 + an unknown number not started",
    );
    expect(unread(point({ lag_records: 5, ...partial, uncommitted_records: 0 }))).toBe("5");
  });

  it("puts those first that lose records, then the soonest; who is safe or unknown is in no danger", () => {
    const row = expiry({ method: null, oldest_unread_expires_in_s: null });
    const rows = RISKS.flatMap((status) =>
      [9, null, 3].map((left) => ({ ...row, group: `${status} ${left}`, status, first_loss_in_s: left })),
    );
    const names = ["LOSING", "AT_RISK", "WATCH"].flatMap((status) => [`${status} 3`, `${status} 9`, `${status} null`]);
    expect(endangered(rows).map((found) => found.group)).toEqual(names);
  });
});
