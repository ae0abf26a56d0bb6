/** The audit: what is asked of it, read page by page, taken away as a file, said in words. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { api } from "./api-client";
import { isKind, kindLabel, OPERATION_KINDS } from "./kinds";
import { AUDIT_LAST, type AuditSearch } from "./search";

const PAGE_SIZE = 100;
/** Of an export, the newest; the service's own bound. */
export const EXPORT_ROWS_MAX = 100_000;
const EXPORT_COMPLETE = "X-Penstock-Export-Complete";
export type ExportFormat = "csv" | "ndjson";

/** The filters as the REST API takes them. "The last hour" is counted from `now`. */
export function asQuery({ cluster, last, from, to, ...texts }: AuditSearch, now = Date.now()) {
  const since = last && new Date(now - AUDIT_LAST[last] * 1000).toISOString();
  return { ...texts, cluster_id: cluster, from: since ?? from, to: last ? undefined : to };
}

export const isFiltered = (search: AuditSearch): boolean => Object.values(search).some((value) => value !== undefined);

export function useAudit(search: AuditSearch) {
  return useInfiniteQuery({
    queryKey: ["page", "audit", search],
    queryFn: ({ pageParam, signal }) =>
      api.get("/api/v1/audit-events", {
        query: { ...asQuery(search), page_size: PAGE_SIZE, cursor: pageParam || undefined },
        signal,
      }),
    initialPageParam: "",
    getNextPageParam: (last) => last.page.next ?? undefined,
  });
}

/** All that the filters find, as a file; whether that was all. */
export async function exported(search: AuditSearch, format: ExportFormat): Promise<{ blob: Blob; isWhole: boolean }> {
  const { blob, headers } = await api.download("/api/v1/audit-events/export", {
    query: { ...asQuery(search), format },
  });
  return { blob, isWhole: headers.get(EXPORT_COMPLETE) === "true" };
}

const ACTIONS: Record<string, string> = {
  "session.login": "Signed in",
  "session.logout": "Signed out",
  "session.login_failed": "Sign-in refused",
  "api-key.create": "Made an API key",
  "api-key.revoke": "Revoked an API key",
  "api-key.rotate": "Exchanged an API key",
  "service-account.create": "Made a service account",
  "service-account.change": "Changed a service account",
  "member.add": "Added a member",
  "member.change": "Changed a member's rights",
  "member.remove": "Removed a member",
  "invitation.create": "Made an invitation",
  "invitation.revoke": "Revoked an invitation",
  "invitation.accept": "Accepted an invitation",
  "user.create": "Made a user",
  "user.change": "Changed a user",
  "user.link": "Made a link to a password",
  "user.password-set": "Set a password by link",
  "user.password-change": "Changed the password",
  "user.link-oidc": "Linked a login to the OpenID provider",
  "tenant.create": "Made the tenant",
  "tenant.rename": "Renamed the tenant",
  "tenant.suspend": "Suspended the tenant",
  "tenant.resume": "Resumed the tenant",
  "tenant.close": "Closed the tenant",
  "platform.first-run": "Set up the platform",
  "secret.read": "Read a one-time password",
  "analytics.run": "Asked for an analytics run",
  "analytics.cancel": "Cancelled an analytics run",
  "deployment.mark": "Marked a deployment",
  "deployment.remove": "Took back the mark of a deployment",
  "audit.export": "Exported the audit",
};
const PHASES: Record<string, string> = {
  plan: "planned",
  start: "started",
  cancel: "cancellation asked for",
  pause: "paused",
  resume: "resumed",
  throttle: "limit changed",
};

/** Beginnings of actions, offered while one is typed. */
export const ACTION_BEGINNINGS = [...new Set(["refused.", ...OPERATION_KINDS, ...Object.keys(ACTIONS)])].sort();
export const ACTOR_BEGINNINGS = ["user:", "key:", "manage.py:", "oidc", "system"];
export const RESOURCE_BEGINNINGS = [
  ...["topic/", "group/", "cluster/", "user/", "api-key/", "service-account/", "invitation/", "/api/v1/"],
];
export const OUTCOMES = ["ok", "succeeded", "failed", "cancelled", "reverted", "refused"];

/** "topic.delete.succeeded" → "Delete topic: succeeded" */
export function actionWords(action: string): string {
  const known = ACTIONS[action];
  if (known) return known;
  const cut = action.lastIndexOf(".");
  const kind = action.slice(0, cut);
  const phase = action.slice(cut + 1);
  if (kind === "refused") return `Was refused (${phase})`;
  if (!isKind(kind)) return action;
  return `${kindLabel(kind)}: ${PHASES[phase] ?? phase.replaceAll("_", " ")}`;
}
