/** Typical analyses of the cluster c1, its topic sales and its group readers. */
import { AT } from "./samples";
import type { Answers } from "./server";

const BASE = "GET /api/v1/clusters/c1/analytics";
const AT_MS = 1_763_000_000_000;
export const told = (...data: object[]) => ({
  ...{ analysis: "x", formula_version: 2, inputs: [], run_id: "run_1", as_of: AT, from: AT, to: AT },
  ...{ seen_share: 0.5, complete: true, period_s: 3600, data },
});

const forecast = {
  ...{ verdict: "filling", days: 2, disk_bytes: 2048, capacity_bytes: 4096, used_share: 0.5 },
  ...{ growth_bytes_per_day_p10: null, growth_bytes_per_day_p50: 1024, growth_bytes_per_day_p90: 2048 },
  ...{ days_to_80_p10: null, days_to_80_p50: 4, days_to_80_p90: 9 },
};
const usage = {
  ...{ topic: "sales", group: null, gib_hours: 12.345, gib_in: null, gib_out: 0.5, hours: 24, replicas: 3 },
  ...{ cost: "1.2345", currency: "EUR" },
};
const impact = {
  ...{ event_id: "ev_1", action: "topic.update.succeeded", resource: "topic/sales", outcome: "succeeded" },
  ...{ actor: "user:ada", begin_ms: AT_MS, end_ms: AT_MS + 60_000, others: 2, topic: "sales", group: "readers" },
  ...{ measure: "lag_seconds_p95", before: 30, after: 60, change_share: 1, verdict: "rose" },
  ...{ hours_before: 6, hours_after: 5, hours_asked: 6 },
};
const hot = {
  ...{ topic: "sales", verdict: "hot", busiest_share: 0.8, busiest_partition: 4, fair_share: 0.166, gini: 0.7 },
  ...{ hours: 24, partitions: 6, records_in: null },
};
const silent = {
  ...{ topic: "sales", verdict: "silent", hour_ms: AT_MS, hours_compared: 7, records: 0, usual_records: 7200.4 },
  ...{ share_of_usual: 0, last_write_ms: null },
};
const unused = {
  ...{ topic: "sales", verdict: "unused", bytes_last: null, groups: 0, last_read_ms: null, last_write_ms: AT_MS },
  ...{ observed_since_ms: AT_MS, records_in: 0, seen_share: 0.99 },
};
const rung = (hours: number, more: object = {}) => ({
  ...{ retention_s: hours * 3600, bytes_held: hours * 1024, bytes_freed: 0, disk_freed_bytes: 0 },
  ...{ groups_losing: 0, groups_unknown: 0, ...more },
});
const loses = {
  ...{ group: "readers", retention_s: 1800, verdict: "would_lose", losing_hours: 3, unknown_hours: 1 },
  ...{ first_ms: AT_MS, last_ms: AT_MS + 10_000_000 },
};
const kept = {
  ...{ group: "readers", topic: "sales", objective_id: null, seconds: 60, share: 0.99, verdict: "fast_burn" },
  ...{ good: 860, bad: 40, unknown: 5, good_share: 0.956, budget_left: 0.5 },
  ...{ burn_5m: 100, burn_30m: 66.72, burn_1h: 33.3, burn_6h: null },
};
const pace = {
  ...{ ts: AT, topic: "sales", lag_records: 40, produce_records_per_s: 42, consume_records_per_s: 14 },
  oldest_unread_expires_in_s: 7200,
};
const line = { topic: "sales", group: "readers", typical: [5, null], highest: [9, null], known: [1, null] };

export const ANALYSES: Answers = {
  [`${BASE}/rollups/cluster`]: told(),
  [`${BASE}/rollups/topics`]: told(),
  [`${BASE}/rollups/groups`]: told(),
  [`${BASE}/chart`]: { as_of: AT, source: "windows", complete: true, ts_ms: [10, 20], series: [line] },
  [`${BASE}/disk-forecast`]: told(forecast),
  [`${BASE}/usage`]: told(usage, { ...usage, group: "readers", cost: null, currency: null }),
  [`${BASE}/change-impact`]: told(impact, { ...impact, measure: "bytes_last", after: null, verdict: "unknown" }),
  [`${BASE}/hot-partitions`]: told(hot, { ...hot, verdict: "even" }),
  [`${BASE}/silent-producers`]: told(silent),
  [`${BASE}/unused-topics`]: told(unused),
  [`${BASE}/retention/sales/what-if`]: told(rung(0.5, { groups_losing: 1 }), rung(1), rung(24, { groups_unknown: 2 })),
  [`${BASE}/retention/sales/what-if/groups`]: told(loses),
  [`${BASE}/lag-objectives`]: told(kept, { ...kept, verdict: "within", objective_id: "lo_1" }),
  [`${BASE}/pace/readers`]: { as_of: AT, stale_after: null, run_id: "run_1", data: [pace] },
};
