/** Typical data for every page, by what it asks for: what a walk over all of them needs. */
import type {
  ClientConfig,
  ClusterVersions,
  LagCounts,
  RetentionCounts,
  Message,
  MessageEvents,
  MessagePart,
} from "@/lib/types";
import {
  AT,
  attention,
  broker,
  cluster,
  collector,
  config,
  ETAG,
  event,
  expiry,
  listed,
  operation,
  partition,
  plan,
  retention,
  run,
  session,
  step,
  timelineEvent,
  topic,
  topicCounts,
  topicRow,
  versions,
} from "./samples";
import { apiKey, invitation, member, platformUser, serviceAccount, tenantSummary } from "./samples-administration";
import { alert, alertDetail, alertOverride, alertRule, delivery, destination, silence } from "./samples-alerts";
import { group, groupCounts, groupOffset, groupRow, lagPoint } from "./samples-groups";
import { operationOf, planOf } from "./samples-plans";
import { runbook, runbookEntry, runbookRun, runbookRunDetail } from "./samples-runbooks";
import { type Answers, ok } from "./server";
import { brokerDirectories, directory, failedDirectory } from "./samples-directories";
import { clusterDrift, difference } from "./samples-drift";
import { consumption } from "./samples-throughput";
import { backfill, mask } from "./samples-work";
import { ACCESS, rule, read } from "./whole-console-access";
import { ANALYSES, told } from "./whole-console-analyses";
import { BY_ITSELF } from "./whole-console-by-itself";
import { HOSTS } from "./whole-console-hosts";

const gold = (...data: object[]) => ({ as_of: AT, run_id: "run_1", data });
const setting = (name: string, value: string | null, more: object = {}) => ({
  ...{ name, value, source: "STATIC_BROKER_CONFIG", is_default: false, read_only: false, sensitive: false, doc: "" },
  ...more,
});
const running = {
  ...{ state: "running", pid: 4711, restarts: 1, since_ms: 0, exit_code: -9, message: "", reported_at_ms: 0 },
  ends: [{ at_ms: 0, exit_code: -9, message: "killed by signal 9", log_tail: ["the last line"] }],
  ...{ log_tail: [], log_hidden: null },
};
/** An operation that offers the plan of what comes next. */
const brokersAdded = {
  ...operationOf("pl_cluster.add_brokers"),
  id: "op_2",
  steps: [
    step({
      state: "running",
      detail: "waiting: 2 partitions with replicas out of sync (a-0, a-1), as broker 2 says",
      detail_parts: [
        { code: "lead/waiting", params: {}, text: "waiting:" },
        {
          code: "obstacle/replicas-behind",
          params: { partitions: 2, names: "a-0, a-1", more: 0 },
          text: "2 partitions with replicas out of sync (a-0, a-1)",
        },
        { code: "tail/as-broker-says", params: { broker: "2" }, text: "as broker 2 says" },
      ],
    }),
  ],
};
const placed = { leads: 8, follows: 16, out_of_sync: 0, offline: 0, preferred_elsewhere: 1, topics: 1 };
const placedOf = { topic: "sales", leads: 8, follows: 16, out_of_sync: 1, offline: 0, size_bytes: 2048 };
const replica = {
  ...{ broker: 1, is_leader: true, in_sync: true, is_assigned: true, is_future: false, size_bytes: 2048 },
  ...{ offset_lag: 0, log_dir: "/data/1", unknown_because: null },
};
const replicas = [
  replica,
  { ...replica, broker: 2, is_leader: false, in_sync: false, offset_lag: 1204 },
  { ...replica, broker: 2, is_leader: false, is_future: true, log_dir: "/disk2" },
];
const trace = {
  ...{ partition: 0, epoch: 2, last_sequence: 41, last_timestamp_ms: 1, coordinator_epoch: null },
  ...{ open_since_offset: 4000, standing: "hanging" },
};
const producer = {
  ...{ producer_id: 4001, epoch: 2, last_timestamp_ms: 1, partition_count: 1, partitions: [trace] },
  transaction: {
    ...{ standing: "hanging", transactional_id: "sales-writer", state: null, started_at_ms: 1 },
    ...{ timeout_ms: 60_000, partition_count: 1 },
  },
};
const configChange = {
  ...{ operation_id: "op_7", kind: "topic.update", at: AT, actor: "user:ada", reason: "billing was behind" },
  ...{ undone_by: null },
  changes: [
    {
      ...{ key: "retention.ms", before: null, after: "3600000" },
      ...{ effective_before: "604800000", effective_after: "3600000" },
    },
  ],
};
const reader = {
  ...{ group: "readers", state: "Stable", members: 2, lag: 1200, committed: 5, uncommitted: 1 },
  ...{ as_of: AT, stale_reason: null },
};
const objective = {
  ...{ id: "lo_1", cluster_id: null, match: "prefix", group: "billing-", topic: null, seconds: 300, share: 0.9995 },
  ...{ note: "invoices wait", created_by: "user:ada", created_at: AT, etag: '"1"' },
};
const usedBy = {
  ...{ cluster_id: "c1", cluster: "orders", topics: 2, groups: 1, gib_hours: 4291.53, gib_in: 17.79, gib_out: 17.77 },
  ...{ unknown_parts: 1, cost: "2.281178", cost_at_least: "2.281178", currency: "EUR", as_of_ms: 1, seen_share: 0.27 },
};
const connect: ClientConfig = {
  ...{ values: {}, mechanisms: ["SCRAM-SHA-512", "SCRAM-SHA-256"], ca_pem: "-----BEGIN CERTIFICATE-----" },
  ...{ properties: "bootstrap.servers=x", java: "security.protocol=SASL_SSL", python: "" },
  snippets: [
    {
      ...{
        language: "python",
        title: "Python",
        file: "produce.py",
        install: "pip install x",
        run: "python produce.py",
      },
      text: 'os.environ["KAFKA_PASSWORD"]',
    },
  ],
};
const lagCounts: LagCounts = {
  ...{ page: 1, size: 50, matched: 1, groups: 2, topics: 3, in_trouble: 1, troubled: ["readers"] },
  ...{ lag_records: 40, behind_s: 12, behind_is_exact: false },
};
const retentionCounts: RetentionCounts = {
  ...{ page: 1, size: 50, matched: 1, bytes: 2048, first_loss: expiry() },
};
const part: MessagePart = {
  ...{ kind: "string", text: "sales", truncated: false, size_bytes: 5, schema: "", problem: "", masked: false },
};
const message: Message = {
  ...{ partition: 0, offset: 7, timestamp_ms: 1_700_000_000_000, timestamp: AT, timestamp_type: "create" },
  ...{ key: { ...part, masked: true }, value: part, headers: [], headers_left_out: 0, masked: true },
};
const looked_at: MessageEvents["done"] = {
  ...{ records: 1_234, bytes: 4_096, matched: 2, filter_errors: 1, left_out: 7, elapsed_ms: 1_500, waits_for: [] },
  ...{ ended_by: "end", cursor: null, unavailable: [1], silent: [2], held_back: [] },
};
const sent = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const messages = () =>
  new Response(sent("message", message) + sent("done", looked_at), {
    headers: { "Content-Type": "text/event-stream" },
  });
const directories = brokerDirectories({
  rows: [
    directory(),
    directory({ name: "bulk", path: "/mnt/bulk/c1-2/data", arriving: 2, can_be_removed: true }),
    failedDirectory(),
  ],
  further: [
    { name: "slow", total_bytes: 1024 ** 4, free_bytes: 1024 ** 3, problem: null },
    { name: "cold", total_bytes: null, free_bytes: null, problem: "Its disk is not mounted." },
  ],
  ...{ lost_replicas: 3, only_here: 1 },
});
const consumed = { group: "readers", topic: "sales", partition: 0, values: [1, 2.5], last: 2.5 };
const next = {
  ...{ kind: "topic.retention_lease", cluster_id: "c1", title: "Keep the records of sales longer" },
  inputs: { name: "sales", retention_ms: 1_209_600_000, for_s: 86_400, reason: "unread" },
} as const;
const [offer] = versions().offers as [ClusterVersions["offers"][number]];
const newer = { ...offer, name: "next", is_own: false, is_current: false, software: "0.2.0" };
const marked = timelineEvent({ id: "ev_2", kind: "deployment", text: "sales 1.4 was deployed", removable: true });
const loads = ok([
  { id: 1, leaders: 1, replicas: 2, size_bytes: 1024 },
  { id: 2, leaders: 0, replicas: 2, size_bytes: null },
]);
const moves = ok({ total: 0, rows: [], unknown: [] });
const found = cluster({ brokers: [broker(), broker({ id: 2, alive: false })] });

export const WHOLE: Answers = {
  ...ANALYSES,
  ...ACCESS,
  "GET /console/api/session": session({
    user: { username: "ada", email: "", is_staff: true },
    tenant: { id: "tn_1", slug: "acme", name: "Acme", role: "owner", state: "active" },
  }),
  "GET /console/api/pages/overview": {
    parts: {
      clusters: ok([cluster(), cluster({ id: "c2", name: "second", phase: "DEGRADED" })]),
      attention: ok([attention({ next })]),
      operations: ok([operation()]),
      hosts: ok([]),
    },
  },
  "GET /console/api/pages/cluster/c1": {
    parts: {
      cluster: ok(found),
      summary: ok({ topics: 1, partitions: 1, under_replicated: 1, offline: 0, size_bytes: 1024 }),
      loads,
      reassignments: moves,
      attention: ok([attention({ next })]),
      events: ok([timelineEvent()]),
      operations: ok([operation({ actor: "key:shown" })]),
      client_config: ok(connect),
      versions: ok(versions({ is_mixed: true, protocol_newest: "3.9-IV0", offers: [offer, newer] })),
    },
  },
  "GET /console/api/pages/topics/c1": {
    parts: { topics: ok([topicRow(), topicRow({ name: "down", offline: 1 })]), counts: ok(topicCounts()) },
  },
  "GET /console/api/pages/topic/c1/sales": {
    parts: {
      topic: ok(
        topic({
          ...{ partitions: [partition(), partition({ partition: 1, isr: [] })], configs: [config()] },
          drift: [{ ...difference({ field: "retention.ms", equal_at: null }), operation_id: "op_7" }],
        }),
      ),
      retention: ok(gold(retention({ groups: [expiry()] }))),
      messages: ok({ browse: true, masked: true, produce: true }),
    },
  },
  "GET /console/api/pages/clients/c1/sales": {
    parts: { readers: ok({ groups: [reader], complete: true }), rules: ok([{ ...rule, ...read }]) },
  },
  "GET /console/api/pages/producers/c1/sales": {
    parts: {
      producers: ok({
        ...{ as_of: AT, complete: true, gaps: [], partition_count: 6, partitions_known: 6 },
        ...{ producers: [producer], producer_count: 1 },
      }),
    },
  },
  "GET /console/api/pages/replicas/c1/sales": {
    parts: {
      replicas: ok({
        ...{ as_of: AT, complete: true, gaps: [], partition_count: 1 },
        data: [{ partition: 0, leader: 1, replicas }],
      }),
    },
  },
  "GET /api/v1/clusters/c1/topics/sales/config-history": { data: [configChange], complete: true },
  "GET /console/events/messages/c1/sales": messages,
  "GET /api/v1/clusters/c1/topics": listed([topicRow()]),
  "GET /console/api/pages/broker/c1/2": {
    parts: {
      broker: ok({
        ...broker({ id: 2 }),
        ...{ cluster_kind: "managed", may_change: true, is_controller: true, leaders: 8, replicas: 24 },
        ...{ size_bytes: 4096, disk_total_bytes: 1024 ** 4, disk_usable_bytes: 1024 ** 4 / 4 },
      }),
      trouble: ok({ ...placed, rows: [placedOf] }),
      process: ok(running),
      settings: ok([
        setting("log.retention.ms", "604800000"),
        setting("num.io.threads", "8", { source: "DEFAULT_CONFIG", is_default: true, read_only: true }),
        setting("ssl.key.password", null, { sensitive: true }),
      ]),
      operations: ok([operation({ kind: "broker.restart", resource: "broker/2" })]),
    },
  },
  "GET /console/api/pages/directories/c1/2": { parts: { directories: ok(directories) } },
  "GET /console/api/pages/placement/c1/2": { parts: { partitions: ok({ ...placed, rows: [placedOf] }) } },
  "GET /api/v1/clusters/c1/brokers/2/log": {
    ...listed([{ text: "the last line", level: "ERROR", cut: true }]),
    ...{ size_bytes: 2048, written_at_ms: 0, answered_at_ms: 1 },
  },
  ...BY_ITSELF,
  "GET /console/api/pages/groups/c1": {
    parts: { groups: ok([groupRow()]), counts: ok(groupCounts()), lag: ok(gold(lagPoint())) },
  },
  "GET /console/api/pages/group/c1/readers": {
    parts: {
      group: ok(group({ offsets: [groupOffset()] })),
      lag: ok(gold(lagPoint())),
      retention: ok(gold(retention({ groups: [expiry()] }))),
      collector: ok(collector()),
    },
  },
  "GET /console/api/pages/drift/c1": { parts: { drift: ok(clusterDrift()) } },
  "GET /console/api/pages/reassign/c1": {
    parts: { cluster: ok(found), counts: ok(topicCounts()), loads, reassignments: moves },
  },
  "GET /console/api/pages/analytics/c1": {
    parts: {
      lag: ok(gold(lagPoint())),
      lag_counts: ok(lagCounts),
      retention: ok(gold(retention({ groups: [expiry()] }))),
      retention_counts: ok(retentionCounts),
      runs: ok([run()]),
      collector: ok(collector()),
    },
  },
  "GET /console/api/pages/operations": {
    parts: {
      operations: ok([operation(), operation({ id: "op_2", state: "failed" })]),
      page: ok({ next: "further", has_more: true }),
    },
  },
  "GET /console/api/pages/operation/op_1": {
    parts: { operation: ok(operation({ cancellable: true, revertible: true })), plan: ok(plan()) },
  },
  "GET /console/api/pages/operation/op_2": {
    parts: { operation: ok(brokersAdded), plan: ok(planOf("cluster.add_brokers")) },
  },
  "GET /api/v1/clusters/c1/analytics/consumption": consumption({
    ...{ as_of: AT, stale_after: "2999-03-04T05:06:07Z", ts_ms: [0, 120_000] },
    ...{
      complete: false,
      reason: "One broker did not answer.",
      rows: [consumed, { ...consumed, group: "idle", values: [null, null], last: null }],
    },
  }),
  "GET /api/v1/clusters/c1/analytics/lag": gold(lagPoint()),
  "GET /api/v1/clusters/c1/schema-registry": {
    ...{ url: "https://schemas.example.org", username: "reader", ca_pem: "", has_password: true },
    ...{ changed_at: AT, etag: '"7"' },
  },
  "GET /api/v1/analytics/usage": told(usedBy, { ...usedBy, cluster_id: null, cluster: null }),
  "GET /api/v1/lag-objectives": listed([objective]),
  "GET /api/v1/timeline": { ...listed([timelineEvent(), marked]), kept_from: AT },
  "GET /api/v1/deployments/ev_2": { ...marked, etag: ETAG },
  "GET /api/v1/alerts": listed([alert(), alert({ id: "al_2", state: "acknowledged", acknowledged_by: "user:bob" })]),
  "GET /api/v1/alerts/al_1": alertDetail(),
  "GET /api/v1/alert-rules": { data: [alertRule()] },
  "GET /api/v1/alert-overrides": listed([alertOverride()]),
  "GET /api/v1/silences": listed([silence()]),
  "GET /api/v1/destinations": listed([destination()]),
  "GET /api/v1/deliveries": listed([delivery()]),
  "GET /api/v1/runbooks": { data: [runbook()] },
  [`GET /api/v1/runbooks/${runbook().id}`]: runbook(),
  "GET /api/v1/runbook-runs": listed([runbookRun()]),
  [`GET /api/v1/runbook-runs/${runbookRun().id}`]: runbookRunDetail({ entries: [runbookEntry()] }),
  "GET /api/v1/audit-events": listed([event(), event({ action: "session.login_failed", outcome: "refused" })]),
  "GET /api/v1/members": listed([member()]),
  "GET /api/v1/invitations": listed([invitation()]),
  "GET /api/v1/service-accounts": listed([serviceAccount()]),
  "GET /api/v1/api-keys": listed([apiKey()]),
  "GET /api/v1/message-masks": listed([mask()]),
  "GET /api/v1/operator/tenants": listed([
    tenantSummary(),
    tenantSummary({ id: "t2", slug: "globex", name: "Globex", state: "suspended" }),
  ]),
  "GET /api/v1/operator/tenants/t2": {
    ...{ ...tenantSummary({ id: "t2", slug: "globex", name: "Globex", state: "suspended" }), member_list: [] },
    remains: [
      { kind: "cluster", id: "c1", name: "orders" },
      { kind: "operation", id: "op_1", name: "topic.create" },
    ],
  },
  "GET /api/v1/operator/users": listed([platformUser()]),
  ...HOSTS,
  "GET /api/v1/operator/analytics/backfills": listed([
    backfill(),
    backfill({ id: "run_1", state: "failed", error: "The disk is full.", finished_at: AT, wall_s: 61 }),
  ]),
  "POST /console/api/invitation": {
    ...{ leads_to: "tenant", tenant: "Acme", role: "operator", username: null, expires_at: "2026-12-01T10:00:00Z" },
  },
};
