import { describe, expect, it } from "vitest";
import { newest, seriesByTopic, worstByGroup } from "./lag";
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
});
