/** Spark's results over REST: the lag of a cluster's groups over time, with its "as of". */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { api } from "./api-client";
import { RANGES, type Range } from "./search";
import type { Lag } from "./types";

/** Runs take minutes; asking more often shows nothing new, ms. */
const REFRESH_MS = 30_000;

export function lagQuery(clusterId: string, range: Range, group?: string) {
  return queryOptions({
    queryKey: ["analytics", clusterId, "lag", range, group ?? null],
    queryFn: ({ signal }) => {
      const from = new Date(Date.now() - RANGES[range] * 1000).toISOString();
      const params = new URLSearchParams({ from });
      if (group) params.set("group", group);
      return api.get<Lag>(`/api/v1/clusters/${encodeURIComponent(clusterId)}/analytics/lag?${params}`, signal);
    },
    refetchInterval: REFRESH_MS,
  });
}

export const useLag = (clusterId: string, range: Range, group?: string) => useQuery(lagQuery(clusterId, range, group));
