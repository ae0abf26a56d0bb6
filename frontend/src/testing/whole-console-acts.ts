/** What the server answers to those who act: plans of every kind, their operations, keys and links that are shown once. */
import type { OperationKind } from "@/lib/types";
import { AT, ETAG, listed, topic } from "./samples";
import { apiKey, hostMove, hostPlan, invitation, platformHost, platformUser } from "./samples-administration";
import { runbookEntry } from "./samples-runbooks";
import { EVERY_PLAN, operationOf, planOf } from "./samples-plans";
import { type Answers, type Asked, ok } from "./server";

const SHOWN_ONCE = {
  secret: { username: "app", password: "s3cret", mechanism: "SCRAM-SHA-512" },
  key: { ...apiKey(), key: "psk_abc_0123456789", replaces: "ak_1", replaced_ends_at: AT },
  invitation: { ...invitation(), path: "/invitation#psi_a_b" },
  user: { ...platformUser(), link: { path: "/invitation#psp_a_b", expires_at: AT } },
  token: {
    ...{ id: "ht_1", host_id: "host-9", note: "", state: "open", token: "pst_a_b", etag: ETAG },
    ...{ created_at: AT, created_by: "user:ada", expires_at: AT, used_at: null, used_from: null },
  },
};

/** All that the functions below answer with, for who looks for what came from the server. */
export const ACTED = [EVERY_PLAN, EVERY_PLAN.map(({ id }) => operationOf(id)), SHOWN_ONCE, AT];

/** What is loaded as a file. */
const FILES = [
  "/console/api/exports/topics/c1",
  "/console/api/exports/groups/c1",
  "/api/v1/clusters/c1/topics/sales/messages/export",
  "/api/v1/audit-events/export",
];
const HOSTS = [platformHost().host_id, "host-2"];
const HOST_ACTS = ["cordon", "uncordon", "drain", "declare-lost", "remove"] as const;

/** Of the second host, a drain is refused. */
const planOfHost = (host_id: string, act: (typeof HOST_ACTS)[number]) =>
  hostPlan({
    ...{ act, host_id, summary: "What it does.", summary_code: act, summary_params: { host: host_id, brokers: 2 } },
    refused:
      act === "drain" && host_id === "host-2"
        ? [
            {
              ...{ code: "operation-under-way", text: "What is in the way.", text_code: "operation-under-way" },
              params: { cluster: "orders", kind: "cluster.add_brokers" },
            },
            {
              ...{ code: "host-state", text: "It is so.", text_code: "host-state/no-way" },
              params: { state: "lost", after: "draining" },
            },
          ]
        : [],
    warnings: [{ code: "recent", severity: "danger", text: "Lately.", text_code: "recent", params: { age_s: 12 } }],
    brokers: [
      hostMove(),
      hostMove({
        ...{ broker_id: 2, target_host_id: null, reason: null, reason_code: null, reason_params: {} },
        why_nowhere: "host-3: It cannot.",
        why_nowhere_parts: [
          { code: "lead/host", params: { host: "host-3" }, text: "host-3:" },
          { code: "no-port", params: { ports: 1 }, text: "It cannot." },
        ],
      }),
    ],
  });

const asked = <T>({ body }: Asked): T => body as T;

export const ACTS: Answers = {
  "POST /api/v1/plans": (call: Asked) => planOf(asked<{ kind: OperationKind }>(call).kind),
  "POST /api/v1/operations": (call: Asked) => operationOf(asked<{ plan_id: string }>(call).plan_id),
  ...Object.fromEntries(
    EVERY_PLAN.flatMap(({ id }) => {
      const operation = operationOf(id);
      return [
        [`GET /api/v1/operations/${operation.id}`, operation],
        [
          `GET /console/api/pages/operation/${operation.id}`,
          { parts: { operation: ok(operation), plan: ok(planOf(operation.kind as OperationKind)) } },
        ],
        [`POST /api/v1/operations/${operation.id}/undo-plan`, planOf("topic.update")],
        [`POST /api/v1/operations/${operation.id}/secret`, SHOWN_ONCE.secret],
      ];
    }),
  ),
  "POST /api/v1/operations/op_1/undo-plan": planOf("topic.delete"),
  "POST /api/v1/api-keys": SHOWN_ONCE.key,
  "POST /api/v1/api-keys/ak_1/rotation": SHOWN_ONCE.key,
  "POST /api/v1/invitations": SHOWN_ONCE.invitation,
  "POST /api/v1/operator/users": SHOWN_ONCE.user,
  [`POST /api/v1/operator/users/${platformUser().username}/link`]: SHOWN_ONCE.user.link,
  "POST /api/v1/operator/host-tokens": SHOWN_ONCE.token,
  ...Object.fromEntries(
    FILES.map((address) => [
      `GET ${address}`,
      () => new Response("name\n", { headers: { "Content-Type": "text/csv" } }),
    ]),
  ),
  ...Object.fromEntries(
    HOSTS.flatMap((host_id) =>
      HOST_ACTS.map((act) => [`GET /api/v1/operator/hosts/${host_id}/plans/${act}`, planOfHost(host_id, act)]),
    ),
  ),
  ...Object.fromEntries(
    HOSTS.map((id) => [`POST /api/v1/operator/hosts/${id}/address`, platformHost({ host_id: id })]),
  ),
  "POST /api/v1/runbook-runs/rr_1/acts/1": runbookEntry({ type: "act", plan_id: "pl_topic.retention_lease" }),
  "GET /api/v1/plans/pl_topic.retention_lease": planOf("topic.retention_lease"),
  "POST /api/v1/destinations/de_1/test": { code: "http", delivered: false, status: 500, text: "", took_ms: 12 },
  "POST /api/v1/operator/destinations/de_1/test": { code: "http", delivered: true, status: 200, text: "", took_ms: 12 },
  "GET /api/v1/clusters/c1/topics/sales": topic(),
  "GET /api/v1/clusters/c1/topics/sales/partitions/0/segments": {
    ...listed([{ base_offset: 0, size_bytes: 2048, modified_ms: 1, role: "current" }]),
    ...{ broker: 1, answered_at_ms: 1 },
    directories: [{ directory: "/data/sales-0", role: "current", total: 2, total_bytes: 4096, other_bytes: 100 }],
  },
  "GET /api/v1/clusters/c1/offset-samples/sales": { topic: "sales", partition: 0, offset: 0, record: null },
  "GET /console/api/search": { results: [], more: [] },
  "POST /console/api/favourites": { data: [] },
};
