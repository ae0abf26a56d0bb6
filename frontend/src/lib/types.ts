/** Shapes of the page read models and of plans and operations, as the server sends them. */

export type Phase = "CREATING" | "RUNNING" | "UPDATING" | "DEGRADED" | "DELETING" | "FAILED";

export interface Broker {
  id: number;
  host: string | null;
  port: number | null;
  rack: string | null;
  alive: boolean;
  observed_state?: string | null;
  pid?: number | null;
  restarts?: number | null;
  log_bytes?: number | null;
  leaders?: number | null;
  replicas?: number | null;
  host_id?: string | null;
  message?: string | null;
}

export interface Cluster {
  id: string;
  name: string;
  kind: "managed" | "registered";
  phase: Phase;
  bootstrap_servers: string;
  brokers: Broker[];
  controller_id: number | null;
  zookeeper_path?: string | null;
  created_at: string;
}

export interface TopicRow {
  name: string;
  internal: boolean;
  partitions: number;
  replication_factor: number;
  under_replicated: number;
  offline: number;
  records: number | null;
  size_bytes: number | null;
  cleanup_policy?: string | null;
  retention_ms?: number | null;
}

export interface Partition {
  partition: number;
  leader: number | null;
  replicas: number[];
  isr: number[];
  log_start: number | null;
  log_end: number | null;
  size_bytes: number | null;
  leader_epoch?: number | null;
}

export interface ConfigEntry {
  name: string;
  value: string | null;
  source: string;
  is_default: boolean;
  sensitive: boolean;
  read_only?: boolean;
  type?: string | null;
  doc?: string | null;
}

export interface TopicDetail {
  name: string;
  internal: boolean;
  topic_id?: string | null;
  partitions: Partition[];
  configs: ConfigEntry[];
  size_bytes: number | null;
}

export interface GroupRow {
  group: string;
  state: string;
  protocol_type: string;
  members: number;
  coordinator: number | null;
  lag: number | null;
  topics?: string[];
}

export interface GroupMember {
  member_id: string;
  client_id: string;
  host: string;
  partitions: { topic: string; partition: number }[];
}

export interface GroupOffset {
  topic: string;
  partition: number;
  committed: number | null;
  log_start: number | null;
  log_end: number | null;
  lag: number | null;
  metadata?: string | null;
}

export interface GroupDetail extends Omit<GroupRow, "members"> {
  members: GroupMember[];
  offsets: GroupOffset[];
}

export interface AclBinding {
  principal: string;
  host: string;
  operation: string;
  permission: string;
  resource_type: string;
  resource_name: string;
  pattern_type: string;
}

export interface ScramUser {
  username: string;
  mechanisms: string[];
  created_at?: string | null;
  managed?: boolean;
}

export interface ActiveReassignment {
  topic: string;
  partition: number;
  replicas: number[];
  adding: number[];
  removing: number[];
}

export interface Host {
  host_id: string;
  rack: string;
  address: string;
  alive: boolean;
  brokers?: number;
}

export interface PlanWarning {
  code: string;
  severity: "info" | "warning" | "danger";
  text: string;
}

export interface Plan {
  id: string;
  kind: string;
  cluster_id: string | null;
  resource: string;
  inputs: Record<string, unknown>;
  diff: Record<string, unknown>;
  impact: { summary: string; warnings: PlanWarning[]; bytes_to_move?: number } & Record<string, unknown>;
  plan_hash: string;
  confirm_phrase: string | null;
  expires_at: string;
  state: "open" | "used" | "expired" | "stale";
}

export type OperationState =
  | "pending" | "running" | "verifying" | "cancelling" | "succeeded" | "failed" | "cancelled" | "reverted";

export interface OperationStep {
  index: number;
  name: string;
  title?: string;
  /** execute and verify lead to success; always, restore and teardown clean up. */
  phase?: "execute" | "verify" | "always" | "restore" | "teardown";
  state: string;
  started_at: string | null;
  finished_at: string | null;
  detail: string | null;
  progress_done: number | null;
  progress_total: number | null;
  unit: string | null;
}

export interface Operation {
  id: string;
  kind: string;
  state: OperationState;
  cluster_id: string | null;
  cluster_name?: string | null;
  resource?: string | null;
  plan_id?: string | null;
  plan?: Plan | null;
  steps: OperationStep[];
  progress: { done: number; total: number; unit: string } | null;
  summary?: string;
  unwinding?: boolean;
  eta_seconds: number | null;
  error: { title: string; status?: number; detail?: string; code?: string } | null;
  cancellable: boolean;
  revertible: boolean;
  reverts: string | null;
  reverted_by?: string | null;
  has_secret?: boolean;
  outcome?: unknown;
  actor: string | null;
  reason: string | null;
  created_at: string;
  finished_at?: string | null;
}

export interface LagPoint {
  group: string;
  topic: string;
  ts: string;
  lag_records: number | null;
  lag_seconds: number | null;
  lag_seconds_at_least?: number | null;
  trend: string | null;
  trend_records_per_s?: number | null;
  eta_seconds?: number | null;
  method: string | null;
  status: string | null;
}

export interface RetentionRow {
  topic: string;
  ts?: string;
  partitions?: number;
  records?: number | null;
  retention_bytes?: number | null;
  bytes: number | null;
  age_seconds: number | null;
  retention_ms: number | null;
  groups: { group: string; oldest_unread_expires_in_s: number | null; status: string | null; lost_records?: number | null; method?: string | null }[];
}

export interface Gold<T> {
  as_of: string | null;
  run_id: string | null;
  data: T[];
}

export interface AuditEvent {
  id: string;
  at: string;
  actor: string;
  action: string;
  resource: string;
  outcome: string;
  reason?: string;
  remote_address?: string;
  data: Record<string, unknown>;
}

/** States from which an operation moves no more. */
export const TERMINAL: ReadonlySet<OperationState> = new Set(["succeeded", "failed", "cancelled", "reverted"]);

export const percentDone = ({ progress }: Operation): number =>
  progress && progress.total > 0 ? (100 * progress.done) / progress.total : 0;

export interface AnalyticsRun {
  id: string;
  state: string;
  started_at: string;
  finished_at: string | null;
  error?: unknown;
}

/** What one broker carries; bytes are null while its log directories cannot be read. */
export interface BrokerLoad {
  id: number;
  leaders: number;
  replicas: number;
  size_bytes: number | null;
}
