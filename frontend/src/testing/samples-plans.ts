/** A plan of every kind, with what its drawing shows. */
import type { Operation, OperationKind, Plan } from "@/lib/types";
import { extent, operation, plan } from "./samples";

const acl = {
  ...{ principal: "User:app", host: "*", operation: "READ", permission: "ALLOW" },
  ...{ resource_type: "TOPIC", resource_name: "sales", pattern_type: "LITERAL" },
};
const rolled = {
  ...{ id: 1, host: "10.0.0.1", rack: "a", is_controller: true, is_up: true, leaders: 3, replicas: 9 },
};
const roll = { brokers: [rolled, { ...rolled, id: 2, is_controller: false, is_up: false }], canary_s: 30 };
const added = {
  ...{ broker_id: 4, rack: "a", address: "10.0.0.4", client_port: 9092, internal_port: 9192 },
  reason: "The rack a has the most room.",
};
const protocol = { now: "3.8-IV0", after: "3.9-IV0", newest: "3.9-IV0", changes: ["Fetch is spoken in version 17."] };
const load = (id: number) => ({
  ...{ id, before_bytes: 4096, after_bytes: 2048, before_replicas: 3, after_replicas: 2 },
  ...{ before_leaders: 2, after_leaders: 1, before_rack_violations: 1, after_rack_violations: 0 },
});
const away = {
  ...{ id: 3, before_bytes: null, after_bytes: null, before_replicas: null, after_replicas: null },
  ...{ before_leaders: null, after_leaders: null, before_rack_violations: null, after_rack_violations: null },
};
const offset = {
  ...{ topic: "sales", partition: 0, from: 60, to: 0, log_start: 0, log_end: 100, effect: "reread" },
  ...{ records: 60, reason: "" },
};
const offsets = {
  partitions: [
    offset,
    { ...offset, partition: 1, to: 100, effect: "skip", records: 40 },
    { ...offset, partition: 2, from: null, effect: "first" },
    { ...offset, partition: 3, to: null, effect: "removed", records: null },
    { ...offset, partition: 4, effect: "none", records: 0 },
  ],
};
const configs = {
  before: { configs: { "retention.ms": null } },
  after: { configs: { "retention.ms": "3600000" } },
  effective_before: { "retention.ms": "604800000" },
  effective_after: { "retention.ms": "3600000" },
};
const rates = { producer_byte_rate: 2048, consumer_byte_rate: null, request_percentage: 50 };
const cluster = {
  ...{ name: "sales", broker_count: 1, brokers: [added], bootstrap_servers: "10.0.0.1:9092" },
  ...{ security_protocol: "SASL_SSL", sasl_mechanism: "SCRAM-SHA-512" },
};
const topic = { name: "sales", partitions: 6, replication_factor: 3, configs: { "retention.ms": "3600000" } };
const user = { username: "app", mechanism: "SCRAM-SHA-512", password: "made anew", acls: [acl] };

const DIFFS: Record<OperationKind, object> = {
  "cluster.create": { before: {}, after: cluster },
  "cluster.register": { before: {}, after: cluster },
  "cluster.credentials": { before: { sasl_mechanism: "PLAIN" }, after: { sasl_mechanism: "SCRAM-SHA-512" } },
  "cluster.delete": { before: { ...cluster, records: 100, bytes: 2048 }, after: {} },
  "broker.restart": { before: { brokers: "1" }, after: { brokers: "" } },
  "cluster.configure": {
    ...roll,
    changes: [
      { key: "log.retention.ms", way: "dynamic", before: [null], after: ["3600000"], now: ["604800000"] },
      { key: "num.io.threads", way: "static", before: ["8"], after: [null], now: ["8", "16"] },
    ],
  },
  "cluster.restart": roll,
  "cluster.add_brokers": {
    ...{ brokers: [added], count_before: 3, count_after: 4, settings_kept: { "num.io.threads": "16" } },
  },
  "cluster.remove_brokers": {
    ...{ count_before: 3, count_after: 2 },
    brokers: [{ id: 3, rack: "c", address: "10.0.0.3", client_port: 9092, is_controller: true, is_up: false }],
  },
  "cluster.replace_broker": {
    ...{ broker: 2, leaders: 3, replicas: 9, way: "move", reason: "The rack a has the most room." },
    throttle_bytes_per_s: 52428800,
    before: { address: "10.0.0.2", client_port: 9092, rack: "b" },
    after: { address: null, client_port: null, rack: "b" },
  },
  "cluster.change_addresses": {
    ...{ canary_s: 30, bootstrap_before: "10.0.0.1:9092", bootstrap_after: "10.0.1.1:9092" },
    brokers: [{ ...rolled, from_address: "10.0.0.1", to_address: "10.0.1.1", renews_certificate: true }],
  },
  "cluster.change_zookeeper": { ...roll, ensemble: "0c6b1c9a-6a55-4f0e-9a53-3d6c3c0e7a01@7", strings_before: 2 },
  "cluster.add_log_directory": {
    ...{ canary_s: 30, directory: "fast" },
    brokers: [
      { ...rolled, log_dirs: { before: ["main"], after: ["main", "fast"] }, free_bytes: 4096, total_bytes: 8192 },
    ],
  },
  "cluster.empty_log_directory": {
    ...{ canary_s: 30, directory: "fast", remove: true, bytes_per_s: 52428800 },
    brokers: [
      {
        ...{ ...rolled, state: "working", leaving: 4, leaving_bytes: 4096 },
        log_dirs: { before: ["main", "fast"], after: ["main"] },
        moves: [{ directory: "main", replicas: 4, size_bytes: 4096 }],
      },
    ],
  },
  "cluster.upgrade": {
    ...{ canary_s: 30, protocol, way_back: { is_open: true, text: "The same kind of plan leads back." } },
    brokers: [{ ...rolled, from_software: "0.1.0", from_version: "agent", to_version: "next" }],
    version: { before: "agent", after: "next", software: "0.2.0", digest: "b".repeat(64) },
  },
  "cluster.finalize_version": { ...roll, protocol, version: "next", no_way_back_to: ["agent"] },
  "leaders.elect": {
    partitions: [{ topic: "sales", partition: 0, before: null, after: 1 }],
    brokers: [{ id: 1, before_leaders: 0, after_leaders: 1 }],
    blocked: [{ topic: "sales", partition: 1, before: 2, after: 3 }],
    ...{ blocked_total: 4, left_out: 7 },
  },
  "topic.create": { before: {}, after: topic },
  "topic.update": configs,
  "topic.partitions": { before: { partitions: 6 }, after: { partitions: 12 } },
  "topic.delete": { before: { ...topic, groups: ["readers"], records: 100, bytes: 2048 }, after: {} },
  "topic.empty": {
    ...{ before: { records: 1200, bytes: null }, after: { records: 0, bytes: 0 } },
    partitions: [{ topic: "sales", partition: 0, log_start: 300, until: 1500, records: 1200 }],
  },
  "topic.retention_lease": {
    ...configs,
    disk: [
      {
        ...{ broker: 1, log_dir: "/data/1", held_bytes: 2048, bytes_at_end: null, fits: false },
        ...{ total_bytes: null, usable_bytes: null, usable_at_end: null },
      },
    ],
    ...{ extends: true, for_s: 86_400, restores_to: "604800000", restores_to_ms: 604_800_000 },
  },
  "topic.retention_restore": configs,
  "user.create": { before: {}, after: user },
  "user.delete": { before: user, after: {} },
  "user.rotate": { before: { password: "the old one" }, after: { password: "made anew" } },
  "user.retire": {
    before: { mechanisms: ["SCRAM-SHA-256", "SCRAM-SHA-512"] },
    after: { mechanisms: ["SCRAM-SHA-512"] },
  },
  "quota.set": {
    before: { ...rates, controller_mutation_rate: null },
    after: { ...rates, producer_byte_rate: null, consumer_byte_rate: 4096, controller_mutation_rate: 5 },
  },
  "acl.create": { before: [], after: [acl] },
  "acl.delete": { before: [acl, { ...acl, permission: "DENY" }], after: [] },
  reassignment: {
    partitions: [{ topic: "sales", partition: 0, before: [1], after: [2], bytes: null, size_bytes: 2048 }],
    ...{ brokers: [load(1), load(2), away], limits: [{ broker: 1, code: "room", text: "Broker 1 has no room." }] },
    balance: { basis: "bytes", bytes_tolerance: 2048, leaders_tolerance: 1, replicas_tolerance: 1 },
  },
  "group.delete": {
    ...{ before: { state: "Empty", members: 0, lag: null }, after: null },
    offsets: [
      { topic: "sales", partition: 0, committed: 7, lag: null, log_start: 0, log_end: null, restorable: false },
    ],
  },
  "offset.reset": offsets,
  "offset.restore": offsets,
};

/** What was asked to be planned, planned; its name is asked for, and it can be undone. */
export function planOf(kind: OperationKind): Plan {
  const shown = plan();
  return {
    ...shown,
    ...{ id: `pl_${kind}`, kind, diff: DIFFS[kind], revertible: true },
    impact: {
      ...shown.impact,
      risks: ["loses-data"],
      blast_radius: [
        extent({ title: "Records" }),
        extent({ name: "groups", title: "Groups that read it", names: ["readers"], hidden: 2 }),
      ],
      undo: { restores: "the topic as it was", stays: ["Its records do not come back."] },
    },
  } as unknown as Plan;
}

export const EVERY_PLAN = (Object.keys(DIFFS) as OperationKind[]).map(planOf);

/** What a plan becomes once it is confirmed: over at once, and what each kind leaves to do. */
export const operationOf = (planId: string): Operation => {
  const kind = EVERY_PLAN.find((made) => made.id === planId)?.kind ?? "topic.create";
  return operation({
    ...{ id: `op_${kind}`, kind, plan_id: planId, cluster_id: "c1" },
    revertible: kind === "topic.create",
    has_secret: kind === "user.create",
    // A new broker has no partitions yet.
    outcome: kind === "cluster.add_brokers" ? { next_plan: { kind: "leaders.elect", inputs: {} } } : null,
  });
};
