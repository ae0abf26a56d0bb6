/** Typical users, rules and quotas of the cluster c1, and what was changed of them from outside. */
import type { AccessDriftPage, KafkaUser, ListCounts } from "@/lib/types";
import { AT, listed } from "./samples";
import { author } from "./samples-drift";
import { type Answers, ok } from "./server";

export const rule = {
  ...{ principal: "User:app", host: "10.0.0.9", operation: "DESCRIBE_CONFIGS", permission: "DENY" },
  ...{ resource_type: "TRANSACTIONAL_ID", resource_name: "sales", pattern_type: "PREFIXED" },
};
const quota = {
  entity: [{ type: "user", name: "app" }],
  words: "user app",
  quotas: {
    ...{ producer_byte_rate: 2_097_152, consumer_byte_rate: null },
    ...{ request_percentage: 50, controller_mutation_rate: 5 },
  },
  managed: false,
};
export const read = { as_of: AT, stale_reason: null };
const away = { event: "login-failed", operation: "LOGIN", resource_type: null, resource_name: "User:eve" };
const denied = {
  ...{ event: "denied", principal: "User:app", operation: "READ", resource_type: "TOPIC", resource_name: "orders" },
  ...{ host: "10.0.0.1", api: "Fetch", count: 1200, first_ms: 1, last_ms: 20, brokers: [1] },
};
const looked = { id: 1, since_ms: 1, is_whole: true, held_back: 0, left_out: 0, unknown_because: null };
const matrix = {
  data: [
    { principal: "User:*", cells: [] },
    {
      principal: "User:app",
      cells: [
        {
          resource: 0,
          allow: [{ operation: "DESCRIBE_CONFIGS", hosts: ["*"] }],
          deny: [{ operation: "WRITE", hosts: ["10.0.0.9"] }],
        },
      ],
    },
  ],
  resources: [
    { resource_type: "TRANSACTIONAL_ID", pattern_type: "PREFIXED", resource_name: "sales" },
    { resource_type: "CLUSTER", pattern_type: "LITERAL", resource_name: "kafka-cluster" },
  ],
  ...{ columns_left_out: 3, principals: 2, page: { next: null, has_more: false }, observed: read },
};
const decision = {
  ...{ principal: "User:app", operation: "WRITE", resource_type: "TOPIC", resource_name: "sales", host: "" },
  ...{ verdict: "denied", reason: "not-granted", text: "User:app may not write the topic sales: no ACL allows it." },
  ...{ deciding: [rule], missing: [{ ...rule, permission: "ALLOW" }], templates: ["producer", "streams"] },
  ...{ unknown: [], unknown_reason: null, by_broker: [], other_hosts: [], acls: read },
};
const counted: ListCounts = { page: 1, size: 50, matched: 1, total: 1 };
const user: KafkaUser = {
  ...{ username: "app", mechanisms: ["SCRAM-SHA-512"], managed: false, ...read },
  rules: { count: 41, denies: 1, first: [rule] },
};
const unread: KafkaUser = { ...user, username: "clerk", rules: null };
const ways = {
  ...{ back_problem: "Passwords are not kept.", back_problem_code: "passwords-not-kept", back_problem_params: {} },
  ...{ adopt_problem: "", adopt_problem_code: null, adopt_problem_params: {} },
  operation_id: "op_7",
  ...{ equal_at: AT, seen_at: AT, changed_at: "2999-01-01T00:00:00Z" },
  who: author({ by: "operation", actor: "user:eve", operation_id: "op_9", at: AT, text: "user:eve" }),
};
const saidOfUser = {
  text_code: "user",
  params: { name: "app", observed: "SCRAM-SHA-512", desired: "SCRAM-SHA-256" },
};
const saidOfRule = { text_code: "acl/added", params: { rule: "User:app may read topic sales" } };
const drift: AccessDriftPage = {
  ...{ page: 1, size: 50, matched: 2, total: 2 },
  under_way: ["op_8"],
  changed_users: [{ username: "app", text: "The user app has a login by SCRAM-SHA-512.", ...saidOfUser }],
  data: [
    {
      ...{ area: "acl", name: "User:app may read topic sales", desired: "there", observed: "not there" },
      ...{ text: "The rule is not there; the last verified operation left it there.", ...saidOfRule, ...ways },
      ...{ back: { kind: "acl.create", inputs: { bindings: [rule] } }, adopt: null },
    },
    {
      ...{ area: "user", name: "app", desired: "a login by SCRAM-SHA-256", observed: "a login by SCRAM-SHA-512" },
      ...{ text: "The user app has a login by SCRAM-SHA-512.", ...saidOfUser, ...ways },
      ...{ back: null, adopt: { kind: "user.create", inputs: {} } },
    },
  ],
  users: { as_of: AT, stale_reason: "broker 2 did not answer" },
  acls: read,
};
const overlap = {
  ...{ username: "app", old_mechanism: "SCRAM-SHA-512", new_mechanism: "SCRAM-SHA-256", state: "standing" },
  ...{ rotation: "op_1", created_at: AT, ends_at: "2999-03-04T05:06:07Z", problem: "" },
};

export const ACCESS: Answers = {
  "GET /api/v1/clusters/c1/users": listed([user, unread]),
  "GET /api/v1/clusters/c1/quotas": { data: [quota], observed: read },
  "GET /api/v1/clusters/c1/access/matrix": matrix,
  "GET /api/v1/clusters/c1/access/denials": { ...listed([denied, { ...denied, ...away }]), brokers: [looked] },
  "GET /api/v1/clusters/c1/access/decision": decision,
  "GET /console/api/pages/access/c1": {
    parts: {
      users: ok([user, unread, { ...user, username: "penstock", managed: true }]),
      users_counts: ok({ ...counted, managed: ["penstock"] }),
      overlaps: ok([overlap]),
      acls: ok([{ ...rule, ...read }]),
      acls_counts: ok(counted),
      quotas: ok({ ...counted, data: [quota] }),
      drift: ok(drift),
    },
  },
};
