/** Alerts, their rules and silences: what the REST API says of them, and how they are ranked. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { type AnswerOf, asked as query, type QueryOf } from "./addresses";
import { api } from "./api-client";
import { readList, REFRESH_MS } from "./page";
import { isRefusal } from "./problem";
import type { Alert, AlertSeverity } from "./types";

/** How many alerts one request brings; the list says when there are more. */
const ALERTS_MAX = 200;
const ALL = { page_size: 500 };

const RANK: Record<AlertSeverity, number> = { critical: 2, warning: 1, info: 0 };

/** Harm first, then what fires before what somebody is at, then the newest. */
export function byHarm(left: Alert, right: Alert): number {
  return (
    RANK[right.severity] - RANK[left.severity] ||
    Number(right.state === "firing") - Number(left.state === "firing") ||
    Date.parse(right.fired_at ?? right.started_at) - Date.parse(left.fired_at ?? left.started_at)
  );
}

export const severityRank = (severity: AlertSeverity): number => RANK[severity];

/** What an alert is about, by the names that runbooks and pages use; nothing that it does not say. */
export interface About {
  group?: string;
  topic?: string;
  operation?: string;
}

const nameIn = (values: Alert["values"], name: string): string | undefined => {
  const value = values[name];
  return typeof value === "string" && value !== "" ? value : undefined;
};

export function aboutOf({ subject, values }: Pick<Alert, "subject" | "values">): About {
  const cut = subject.indexOf("/");
  const area = subject.slice(0, Math.max(0, cut));
  const name = subject.slice(cut + 1);
  const of = (wanted: string) => (area === wanted && name ? name : undefined);
  return {
    group: of("group") ?? nameIn(values, "group"),
    topic: of("topic") ?? nameIn(values, "topic"),
    operation: of("operation"),
  };
}

/** Whether an alert says something of a topic or a group: it is its subject, or one of its members. */
export function concerns(alert: Alert, area: "group" | "topic", name: string): boolean {
  return (
    alert.subject === `${area}/${name}` ||
    nameIn(alert.values, area) === name ||
    (alert.unit === `${area}s` && alert.members.includes(name))
  );
}

type AlertQuery = QueryOf<"/api/v1/alerts">;
type AlertList = AnswerOf<"get", "/api/v1/alerts">;

const alertsQuery = (asked: AlertQuery) =>
  queryOptions({
    queryKey: ["page", "alerts", asked],
    queryFn: ({ client, queryKey, signal }) =>
      readList<AlertList>(
        `/api/v1/alerts${query({ page_size: ALERTS_MAX, ...asked })}`,
        client.getQueryData<AlertList>(queryKey),
        signal,
      ),
    refetchInterval: ({ state }) => (isRefusal(state) ? false : REFRESH_MS),
  });

export const useAlerts = (asked: AlertQuery) => useQuery(alertsQuery(asked));
/** Those that fire or somebody is at: of the tenant, or of one cluster. */
export const useOpenAlerts = (clusterId?: string) => useAlerts({ state: "open", cluster_id: clusterId });

export const useAlert = (id: string) =>
  useQuery({
    queryKey: ["page", "alert", id],
    queryFn: ({ signal }) => api.get("/api/v1/alerts/{alert_id}", { blanks: { alert_id: id }, signal }),
    refetchInterval: ({ state }) => (isRefusal(state) ? false : REFRESH_MS),
  });

export const useAlertRules = () =>
  useQuery({
    queryKey: ["page", "alert-rules"],
    queryFn: ({ signal }) => api.get("/api/v1/alert-rules", { signal }),
  });
export const useAlertOverrides = () =>
  useQuery({
    queryKey: ["page", "alert-overrides"],
    queryFn: ({ signal }) => api.get("/api/v1/alert-overrides", { query: ALL, signal }),
  });
export const useSilences = () =>
  useQuery({
    queryKey: ["page", "silences"],
    queryFn: ({ signal }) => api.get("/api/v1/silences", { query: ALL, signal }),
  });
