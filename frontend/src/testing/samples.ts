/** One of everything that the server answers, each with the fields that a test cares about put over it. */
import type {
  AnalyticsRun,
  ApiKey,
  AuditEvent,
  Broker,
  Cluster,
  Collector,
  ConfigEntry,
  Extent,
  GroupDetail,
  GroupOffset,
  GroupRow,
  Host,
  Invitation,
  LagPoint,
  Member,
  Operation,
  OperationStep,
  Partition,
  Plan,
  PlatformHost,
  PlatformUser,
  ServiceAccount,
  Session,
  TenantSummary,
  TopicDetail,
  TopicRetention,
  TopicRow,
} from "@/lib/types";
import type { Expiry } from "@/lib/lag";

const AT = "2026-11-21T10:00:00Z";
const over =
  <T extends object>(base: T) =>
  (fields: Partial<T> = {}): T => ({ ...base, ...fields });

export const session = over<Session>({
  user: { username: "ada", email: "", is_staff: false },
  tenant: { id: "tn_1", slug: "acme", name: "Acme", role: "operator", state: "active" },
  tenants: [{ id: "tn_1", slug: "acme", name: "Acme", role: "operator", state: "active" }],
  csrf_token: "token-1",
  can_write: true,
  sign_in: { passwords: true, provider: null },
});
export const SIGNED_OUT: Session = {
  user: null,
  tenant: null,
  tenants: [],
  csrf_token: "token-0",
  can_write: false,
  sign_in: { passwords: true, provider: null },
};

export const broker = over<Broker>({
  id: 1,
  host: "10.0.0.1",
  port: 9092,
  rack: "a",
  host_id: "host-1",
  alive: true,
  observed_state: "running",
  pid: 4711,
  restarts: 0,
  since_ms: 0,
  message: "",
});
export const cluster = over<Cluster>({
  id: "c1",
  name: "orders",
  kind: "managed",
  phase: "RUNNING",
  bootstrap_servers: "10.0.0.1:9092",
  security_protocol: "SASL_PLAINTEXT",
  sasl_mechanism: "SCRAM-SHA-512",
  brokers: [broker(), broker({ id: 2, rack: "b" }), broker({ id: 3, rack: "c" })],
  controller_id: 1,
  unknown_because: null,
  zookeeper_path: "/c1",
  created_at: AT,
});
export const host = over<Host>({
  host_id: "host-1",
  rack: "a",
  address: "10.0.0.1",
  port_range: [9092, 9100],
  agent_version: "1",
  alive: true,
  drained: false,
  brokers: 1,
});
export const topicRow = over<TopicRow>({
  name: "sales",
  internal: false,
  topic_id: "id-1",
  partitions: 6,
  replication_factor: 3,
  under_replicated: 0,
  offline: 0,
  records: 1000,
  size_bytes: 2048,
  cleanup_policy: "delete",
  retention_ms: 3_600_000,
});
export const partition = over<Partition>({
  partition: 0,
  leader: 1,
  leader_epoch: 4,
  replicas: [1, 2, 3],
  isr: [1, 2, 3],
  log_start: 0,
  log_end: 100,
  size_bytes: 1024,
});
export const config = over<ConfigEntry>({
  name: "retention.ms",
  value: "3600000",
  source: "TOPIC_CONFIG",
  is_default: false,
  read_only: false,
  sensitive: false,
  doc: "How long records are kept.",
});
export const topic = over<TopicDetail>({
  name: "sales",
  internal: false,
  topic_id: "id-1",
  partitions: [partition(), partition({ partition: 1, leader: 2 })],
  configs: [config()],
  size_bytes: 2048,
});
export const groupRow = over<GroupRow>({
  group: "readers",
  state: "Stable",
  protocol_type: "consumer",
  members: 2,
  coordinator: 1,
  lag: 40,
  topics: ["sales"],
});
export const groupOffset = over<GroupOffset>({
  topic: "sales",
  partition: 0,
  committed: 60,
  log_start: 0,
  log_end: 100,
  lag: 40,
  metadata: "",
});
export const group = over<GroupDetail>({
  group: "readers",
  state: "Empty",
  protocol_type: "consumer",
  coordinator: 1,
  lag: 40,
  topics: ["sales"],
  members: [],
  offsets: [groupOffset()],
});
export const lagPoint = over<LagPoint>({
  group: "readers",
  topic: "sales",
  ts: AT,
  partitions: 1,
  lag_records: 40,
  lag_seconds: 12,
  lag_seconds_at_least: null,
  method: "exact",
  trend: "growing",
  trend_records_per_s: 2.5,
  produce_records_per_s: 10,
  consume_records_per_s: 7.5,
  eta_seconds: null,
  lost_records: 0,
  members: 2,
  state: "Stable",
  status: "FALLING_BEHIND",
});
export const expiry = over<Expiry>({
  group: "readers",
  oldest_unread_expires_in_s: 1800,
  first_loss_in_s: 7200,
  method: "exact",
  lost_records: 0,
  status: "WATCH",
});
export const retention = over<TopicRetention>({
  topic: "sales",
  ts: AT,
  partitions: 6,
  bytes: 2048,
  records: 1000,
  age_seconds: 1800,
  retention_ms: 3_600_000,
  retention_bytes: null,
  groups: [expiry()],
});
export const collector = over<Collector>({
  interval_s: 5,
  first_verdict_due_at: null,
  last_sample_at: AT,
  took_ms: 3,
  lateness_ms: 0,
  slices: 1,
  samples: 1,
  failures: 0,
  last_error: null,
});
export const run = over<AnalyticsRun>({
  id: "run_1",
  state: "succeeded",
  trigger: "schedule",
  attempt: 1,
  from: AT,
  to: AT,
  progress: {},
  cancel_requested: false,
  created_at: AT,
  started_at: AT,
  finished_at: AT,
  rows_in: 1,
  rows_rejected: 0,
  rows_out: 1,
  wall_s: 42,
  phases_s: {},
  formula_version: 1,
  error: "",
  clusters: [],
});
export const step = over<OperationStep>({
  index: 0,
  name: "create_topic",
  title: "Create the topic",
  phase: "execute",
  state: "done",
  attempts: 1,
  detail: "",
  progress_done: null,
  progress_total: null,
  unit: "",
  started_at: AT,
  finished_at: "2026-11-21T10:00:03Z",
});
export const operation = over<Operation>({
  id: "op_1",
  kind: "topic.create",
  state: "succeeded",
  rolling_back: false,
  cluster_id: "c1",
  resource: "topic/sales",
  summary: "Create topic sales",
  plan_id: "pl_1",
  steps: [step()],
  progress: { done: 1, total: 1, unit: "steps" },
  eta_seconds: null,
  error: null,
  locks: [],
  cancellable: false,
  revertible: false,
  remains: [],
  reverts: null,
  reverted_by: null,
  has_secret: false,
  outcome: null,
  actor: "user:ada",
  reason: "",
  created_at: AT,
  started_at: AT,
  finished_at: "2026-11-21T10:00:05Z",
});
export const event = over<AuditEvent>({
  id: "ev_1",
  at: AT,
  actor: "user:ada",
  action: "topic.create.succeeded",
  resource: "topic/sales",
  outcome: "succeeded",
  reason: "",
  cluster_id: null,
  credential: "session/0123456789abcdef",
  request_id: "rq_1",
  remote_address: "10.0.0.9",
  data: {},
});

export const extent = over<Extent>({
  name: "records",
  title: "records",
  value: 6600,
  at_least: 6600,
  names: null,
  unknown: [],
  limit: 7260,
});

/** A plan that deletes a topic and wants its name typed; valid for an hour. */
export const plan = (fields: Partial<Plan> = {}): Plan =>
  ({
    id: "pl_1",
    kind: "topic.delete",
    cluster_id: "c1",
    inputs: { name: "sales" },
    resource: "topic/sales",
    plan_hash: "h".repeat(64),
    confirm_phrase: "sales",
    state: "open",
    revertible: false,
    reverts: null,
    operation_id: null,
    created_by: "user:ada",
    created_at: AT,
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    impact: {
      summary: "Topic sales is deleted with its records.",
      warnings: [{ code: "data", severity: "danger", text: "1,000 records are lost.", risk: "loses-data" }],
      risks: ["loses-data"],
    },
    diff: { before: { name: "sales", partitions: 6 }, after: {} },
    ...fields,
  }) as Plan;

/** A list of the REST API, all on one page. */
export const listed = <T>(data: T[]) => ({ data, page: { next: null, has_more: false } });
export const member = over<Member>({ username: "ada", role: "owner", grants: [], is_active: true, last_login_at: AT });
export const invitation = over<Invitation>({
  id: "iv_1",
  role: "viewer",
  note: "Grace",
  state: "open",
  created_by: "user:ada",
  created_at: AT,
  expires_at: "2026-11-28T10:00:00Z",
  accepted_at: null,
  accepted_by: null,
});
export const serviceAccount = over<ServiceAccount>({
  id: "sa_1",
  name: "pipeline",
  description: "nightly loads",
  disabled: false,
  disabled_at: null,
  live_keys: 1,
  created_by: "user:ada",
  created_at: AT,
});
export const apiKey = over<ApiKey>({
  id: "ak_1",
  name: "ci",
  service_account: { id: "sa_1", name: "pipeline" },
  scope: "read",
  grants: [],
  prefix: "psk_abc",
  created_by: "user:ada",
  created_at: AT,
  last_used_at: null,
  expires_at: null,
  revoked_at: null,
});
export const tenantSummary = over<TenantSummary>({
  id: "tn_1",
  slug: "acme",
  name: "Acme",
  state: "active",
  members: 3,
  owners: 1,
  clusters: 2,
  created_at: AT,
});
export const platformUser = over<PlatformUser>({
  username: "ada",
  email: "",
  is_active: true,
  is_operator: false,
  has_password: true,
  tenants: [{ slug: "acme", name: "Acme", role: "owner" }],
  created_at: AT,
  last_login_at: AT,
});
export const platformHost = over<PlatformHost>({
  ...host(),
  alive_since: AT,
  described_at: AT,
  drained_by: null,
  broker_list: [
    {
      broker_id: 1,
      cluster: "orders",
      cluster_id: "c1",
      tenant: "acme",
      observed_state: "running",
      observed_at: AT,
    },
  ],
});
