/** What a cluster's page says of what is done by itself, for a walk over the whole console. */
import type { Healing } from "@/lib/healing";
import type { RebalanceSchedule } from "@/lib/rebalance-schedule";
import { AT, ETAG } from "./samples";
import type { Answers } from "./server";

const healing: Healing = {
  ...{ mode: "automatic", replace_after_s: 1800, per_day_max: 2, time_zone: "UTC", etag: ETAG },
  ...{ windows: [{ day: "saturday", begins: "22:00", minutes: 240 }], window_open: false, window_opens_at: AT },
  ...{ changed_at: AT, changed_by: "user:ada" },
  decision: {
    ...{ code: "under-way", text: "It waits.", at: AT },
    parts: [
      { code: "why/silent", params: { broker: "2", silent_ms: 300_000 }, text: "It waits." },
      { code: "under-way", params: { kind: "cluster.add_brokers" }, text: "It waits." },
    ],
  },
  cases: [
    {
      ...{ id: "hc_1", broker: 2, silent_since: AT, state: "proposed", code: "proposed" },
      ...{ text: "It is proposed.", operation_id: null, by: null },
      parts: [
        { code: "why/lost", params: { broker: "2" }, text: "It is proposed." },
        { code: "proposed", params: { broker: "2" }, text: "It is proposed." },
      ],
      ...{ created_at: AT, moved_at: AT },
    },
  ],
};
const rebalance: RebalanceSchedule = {
  ...{ enabled: true, threshold_percent: 20, throttle_bytes_per_s: 10_485_760, time_zone: "UTC", etag: ETAG },
  ...{ windows: [{ day: "sunday", begins: "02:00", minutes: 120 }], window_open: true, window_opens_at: null },
  ...{ changed_at: AT, changed_by: "user:ada", bytes_percent: 61.2, leaders_percent: null, looked_at: AT },
  decision: {
    ...{ code: "under-replicated", text: "It is put off.", at: AT },
    parts: [{ code: "under-replicated", params: { partitions: 2 }, text: "It is put off." }],
  },
  runs: [
    {
      ...{ id: "rb_1", state: "succeeded", operation_id: "op_1", reason: "It has begun." },
      reason_parts: [
        {
          ...{ code: "far/bytes", text: "It has begun." },
          params: { broker: "3", held_gib: 16.5, percent: 60, mean_gib: 10 },
        },
      ],
      ...{ result: "Move 12 partitions.", bytes_before: 60, bytes_after: 4.1, leaders_before: 0, leaders_after: null },
      ...{ began_at: AT, ended_at: AT },
    },
  ],
};

export const BY_ITSELF: Answers = {
  "GET /api/v1/clusters/c1/healing": healing,
  "GET /api/v1/clusters/c1/rebalance-schedule": rebalance,
};
