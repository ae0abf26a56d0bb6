/** What of the cluster c1 is not as it was left. */
import type { ClusterDrift } from "@/lib/types";
import { AT } from "./samples";

type Row = ClusterDrift["data"][number];

export const author = (more: Partial<Row["who"]> = {}): Row["who"] => ({
  ...{ by: "unknown", actor: null, operation_id: null, at: null, host: null },
  ...{ text: "unknown: changed outside of Penstock", unread: "", unread_code: null, unread_params: {} },
  ...more,
});

export const difference = (more: Partial<Row> = {}): Row => ({
  ...{ area: "setting", name: "log.retention.ms", field: "", desired: "1000", observed: "2000" },
  ...{ operation_id: "op_7", text: "log.retention.ms is 2000; it was left at 1000." },
  ...{ text_code: "setting", params: { key: "log.retention.ms", observed: "2000", desired: "1000" } },
  back: { kind: "cluster.configure", inputs: { config: { "log.retention.ms": "1000" } } },
  adopt: { kind: "cluster.configure", inputs: { config: { "log.retention.ms": "2000" }, adopt: true } },
  ...{ back_problem: "", back_problem_code: null, back_problem_params: {} },
  ...{ adopt_problem: "", adopt_problem_code: null, adopt_problem_params: {} },
  ...{ equal_at: AT, seen_at: AT, changed_at: AT, who: author() },
  ...more,
});

export const clusterDrift = (more: Partial<ClusterDrift> = {}): ClusterDrift => ({
  data: [
    difference({
      who: author({
        ...{ unread: "Of broker 2 not all of it.", unread_code: "not-whole", unread_params: { brokers: "2" } },
      }),
    }),
    difference({
      ...{ area: "quota", name: "user app", field: "producer_byte_rate", desired: null, equal_at: null },
      ...{
        text_code: "quota/user",
        params: { key: "producer_byte_rate", user: "app", observed: "2000", desired: null },
      },
      who: author({ by: "principal", actor: "User:eve", host: "10.1.2.3", at: AT, text: "User:eve from 10.1.2.3" }),
    }),
    difference({
      ...{ area: "replicas", name: "sales", field: "racks", operation_id: null, back: null },
      ...{ text_code: "replicas/racks", params: { topic: "sales", most: 2, where: "0 → 1, 2 (a)", more: 0 } },
      ...{ back_problem: "Broker 3 is not in the cluster.", changed_at: "2999-01-01T00:00:00Z" },
      ...{ back_problem_code: "broker-gone", back_problem_params: { brokers: "3" } },
      who: author({ by: "operation", actor: "user:eve", operation_id: "op_9", at: AT, text: "user:eve" }),
    }),
  ],
  left_out: 4,
  areas: [
    { area: "setting", as_of: AT, stale_reason: "broker 2 did not say", count: 1 },
    { area: "quota", as_of: AT, stale_reason: null, count: 5 },
    { area: "replicas", as_of: AT, stale_reason: null, count: 1 },
    { area: "topic", as_of: AT, stale_reason: null, count: 0 },
    { area: "user", as_of: null, stale_reason: null, count: null },
    { area: "acl", as_of: null, stale_reason: "the cluster refused", count: null },
  ],
  under_way: ["op_8"],
  ...more,
});
