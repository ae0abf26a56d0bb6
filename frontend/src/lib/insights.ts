/** Analyses and rollups over hours and days: what the REST API works out of Spark's results. */
import { type QueryFilters, useQuery } from "@tanstack/react-query";
import type { components } from "@/generated/api";
import { filled } from "./addresses";
import { api } from "./api-client";
import { type Span, SPANS } from "./search";

/** Runs take minutes and rollups are made by the hour, ms. */
const REFRESH_MS = 60_000;
const DAY_MS = 24 * 3600 * 1000;

type Schemas = components["schemas"];
export type WhatIfRow = Schemas["RetentionWhatIfRow"];
export type WhatIfGroup = Schemas["RetentionWhatIfGroupsRow"];
export type UsageRow = Schemas["UsageRow"];
export type TenantUsageRow = Schemas["TenantUsageRow"];
export type ObjectiveRow = Schemas["LagObjectivesRow"];
export type UnusedRow = Schemas["UnusedTopicsRow"];
export type ForecastRow = Schemas["DiskForecastRow"];
export type HotRow = Schemas["HotPartitionsRow"];
export type GroupRollup = Schemas["GroupRollup"];
export type TopicRollup = Schemas["TopicRollup"];
export type ClusterRollup = Schemas["ClusterRollup"];
export type ImpactRow = Schemas["ChangeImpactRow"];
export type SilentRow = Schemas["SilentProducersRow"];

/** What every answer says of itself: how old, how much of the range was seen, whether all rows are there. */
export interface Told<Row> {
  as_of: string | null;
  complete: boolean;
  formula_version: number;
  from?: string | null;
  to?: string | null;
  seen_share?: number | null;
  data: Row[];
}

/** A moment as the API takes it. */
export const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();

const options = { refetchInterval: REFRESH_MS, staleTime: REFRESH_MS / 2 } as const;
const key = (clusterId: string, ...rest: unknown[]) => ["analytics", clusterId, "insight", ...rest];

export const useWhatIf = (clusterId: string, topic: string, retentionS: number | undefined) =>
  useQuery({
    queryKey: key(clusterId, "what-if", topic, retentionS),
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/analytics/retention/{topic}/what-if", {
        blanks: { cluster_id: clusterId, topic },
        query: { retention_s: retentionS },
        signal,
      }),
    ...options,
  });
export const useWhatIfGroups = (clusterId: string, topic: string, retentionS: number | undefined) =>
  useQuery({
    queryKey: key(clusterId, "what-if-groups", topic, retentionS),
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/analytics/retention/{topic}/what-if/groups", {
        blanks: { cluster_id: clusterId, topic },
        query: { retention_s: retentionS },
        signal,
      }),
    ...options,
  });
export const useUsage = (clusterId: string, days: number) =>
  useQuery({
    queryKey: key(clusterId, "usage", days),
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/analytics/usage", {
        blanks: { cluster_id: clusterId },
        query: { from: daysAgo(days) },
        signal,
      }),
    ...options,
  });
/** What the tenant's clusters used, and their sum. */
export const useTenantUsage = (days: number) =>
  useQuery({
    queryKey: ["analytics", "tenant-usage", days],
    queryFn: ({ signal }) => api.get("/api/v1/analytics/usage", { query: { from: daysAgo(days) }, signal }),
    ...options,
  });
/** Of one group, or of all of a cluster; nothing is asked before there is one. */
export const useObjectives = (clusterId: string | undefined, group?: string) =>
  useQuery({
    enabled: clusterId !== undefined,
    queryKey: key(clusterId ?? "", "objectives", group),
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/analytics/lag-objectives", {
        blanks: { cluster_id: clusterId ?? "" },
        query: { group },
        signal,
      }),
    ...options,
  });
/** What a lag objective that is set, changed or deleted is seen in, on any cluster; other analyses cost reads. */
export const OBJECTIVES: QueryFilters = {
  predicate: ({ queryKey: [scope, , kind, name] }) =>
    scope === "analytics" && kind === "insight" && name === "objectives",
};
export const useUnused = (clusterId: string) =>
  useQuery({
    queryKey: key(clusterId, "unused"),
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/analytics/unused-topics", { blanks: { cluster_id: clusterId }, signal }),
    ...options,
  });
export const useForecast = (clusterId: string, capacityBytes: number | undefined) =>
  useQuery({
    queryKey: key(clusterId, "forecast", capacityBytes),
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/analytics/disk-forecast", {
        blanks: { cluster_id: clusterId },
        query: { capacity_bytes: capacityBytes },
        signal,
      }),
    ...options,
  });
export const useHot = (clusterId: string) =>
  useQuery({
    queryKey: key(clusterId, "hot"),
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/analytics/hot-partitions", { blanks: { cluster_id: clusterId }, signal }),
    ...options,
  });
export const useSilent = (clusterId: string) =>
  useQuery({
    queryKey: key(clusterId, "silent"),
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/analytics/silent-producers", {
        blanks: { cluster_id: clusterId },
        signal,
      }),
    ...options,
  });

export const useImpact = (clusterId: string, days: number) =>
  useQuery({
    queryKey: key(clusterId, "impact", days),
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/analytics/change-impact", {
        blanks: { cluster_id: clusterId },
        query: { from: daysAgo(days) },
        signal,
      }),
    ...options,
  });

const since = (span: Span) => ({
  period: SPANS[span].period,
  from: daysAgo(SPANS[span].days),
});

export const useClusterRollups = (clusterId: string, span: Span) =>
  useQuery({
    queryKey: key(clusterId, "rollup", span),
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/analytics/rollups/cluster", {
        blanks: { cluster_id: clusterId },
        query: since(span),
        signal,
      }),
    ...options,
  });
export const useTopicRollups = (clusterId: string, topic: string, span: Span) =>
  useQuery({
    queryKey: key(clusterId, "rollup-topic", topic, span),
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/analytics/rollups/topics", {
        blanks: { cluster_id: clusterId },
        query: { topic, ...since(span) },
        signal,
      }),
    ...options,
  });
export const useGroupRollups = (clusterId: string, group: string, span: Span) =>
  useQuery({
    queryKey: key(clusterId, "rollup-group", group, span),
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/analytics/rollups/groups", {
        blanks: { cluster_id: clusterId },
        query: { group, ...since(span) },
        signal,
      }),
    ...options,
  });

/** Points of one column over time. Where a period is missing there is a gap, not a line across it. */
export function pointsOf<Row extends { ts: string }>(
  rows: readonly Row[],
  periodS: number,
  value: (row: Row) => number | null,
): [number, number | null][] {
  const points: [number, number | null][] = [];
  let before: number | undefined;
  for (const row of rows.toSorted((left, right) => Date.parse(left.ts) - Date.parse(right.ts))) {
    const at = Date.parse(row.ts);
    if (before !== undefined && at - before > periodS * 1500) points.push([before + periodS * 1000, null]);
    points.push([at, value(row)]);
    before = at;
  }
  return points;
}

/** Of what an answer was asked: nothing for what is not given. */
export type Asked = Record<string, string | number | undefined>;

/** The address of an answer as a file, to be opened with the session: the same range as is shown. */
export function fileAddress(
  address: string,
  blanks: Record<string, string>,
  format: "csv" | "parquet",
  asked: Asked = {},
): string {
  const given = Object.entries({ ...asked, format }).filter(([, value]) => value !== undefined);
  return `${filled(address, blanks)}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`;
}
