import { describe, expect, it } from "vitest";
import { LAG_STATUSES, RISKS } from "@/generated/constants";
import { endangered, isInTrouble, newest, seriesByTopic, worstByGroup } from "./lag";
import type { LagPoint } from "./types";

const point = (over: Partial<LagPoint>): LagPoint => ({
  group: "g",
  topic: "t",
  ts: "2026-11-21T10:00:00Z",
  lag_records: 0,
  lag_seconds: 0,
  lag_seconds_at_least: null,
  lost_records: 0,
  members: 1,
  partitions: 1,
  state: "Stable",
  trend: "unknown",
  trend_records_per_s: null,
  produce_records_per_s: null,
  consume_records_per_s: null,
  eta_seconds: null,
  method: null,
  status: "CAUGHT_UP",
  ...over,
});

describe("lag", () => {
  it("takes the newest point of each topic whatever the order", () => {
    const late = point({ ts: "2026-11-21T10:01:00Z", lag_records: 5 });
    expect(newest([late, point({})])).toEqual([late]);
  });

  it("lets the worst topic speak for the group, by what is true now", () => {
    const healed = point({ topic: "a", status: "STALLED" });
    const healthy = point({ topic: "a", ts: "2026-11-21T10:01:00Z" });
    const behind = point({ topic: "b", status: "FALLING_BEHIND", lag_records: 9 });
    expect(worstByGroup([healed, healthy, behind]).get("g")).toEqual(behind);
  });

  it("keeps gaps as gaps", () => {
    const series = seriesByTopic([point({ lag_records: null }), point({ ts: "2026-11-21T09:00:00Z", lag_records: 3 })], "lag_records");
    expect(series[0]?.points.map(([, value]) => value)).toEqual([3, null]);
  });

  it("takes each status for worse than the one before it", () => {
    LAG_STATUSES.slice(1).forEach((status, index) => {
      const better = point({ topic: "a", status: LAG_STATUSES[index], lag_records: 9 });
      const worse = point({ topic: "b", status });
      expect(worstByGroup([worse, better]).get("g")).toEqual(worse);
      expect(worstByGroup([better, worse]).get("g")).toEqual(worse);
    });
  });

  it("counts those in trouble that fall behind, stand still or lost records", () => {
    const found = LAG_STATUSES.filter((status) => isInTrouble(point({ status })));
    expect(found).toEqual(["FALLING_BEHIND", "STALLED", "STOPPED", "DATA_LOST"]);
  });

  it("puts those first that lose records, then the soonest; who is safe or unknown is in no danger", () => {
    const row = { method: null, lost_records: 0, oldest_unread_expires_in_s: null };
    const rows = RISKS.flatMap((status) => [9, null, 3].map((left) => ({ ...row, group: `${status} ${left}`, status, first_loss_in_s: left })));
    const names = ["LOSING", "AT_RISK", "WATCH"].flatMap((status) => [`${status} 3`, `${status} 9`, `${status} null`]);
    expect(endangered(rows).map((found) => found.group)).toEqual(names);
  });
});
