/** Spark's results over REST: the lag of a group over time, with its "as of". */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { api } from "./api-client";
import { RANGES, type Range } from "./search";

/** Runs take minutes; asking more often shows nothing new, ms. */
const REFRESH_MS = 30_000;

export function lagQuery(clusterId: string, range: Range, group: string) {
  return queryOptions({
    queryKey: ["analytics", clusterId, "lag", range, group],
    queryFn: ({ signal }) => {
      const from = new Date(Date.now() - RANGES[range] * 1000).toISOString();
      return api.get("/api/v1/clusters/{cluster_id}/analytics/lag", {
        blanks: { cluster_id: clusterId },
        query: { from, group },
        signal,
      });
    },
    refetchInterval: REFRESH_MS,
  });
}

export const useLag = (clusterId: string, range: Range, group: string) => useQuery(lagQuery(clusterId, range, group));
