/** Topics of a cluster as they are typed: the server searches, for a cluster may have ten thousand. */
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { api } from "./api-client";

/** How many a select offers; who wants others types more of the name. */
const OFFERED_MAX = 20;
/** Pause after the last key before the server is asked, ms. */
const PAUSE_MS = 150;
/** Names of which is asked how often they are replicated. */
const LOOKED_AT_MAX = 50;
const FRESH_MS = 30_000;

export function useTopicSearch(clusterId: string, text: string) {
  const [q] = useDebouncedValue(text.trim(), PAUSE_MS);
  return useQuery({
    queryKey: ["topic-search", clusterId, q],
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/topics", {
        blanks: { cluster_id: clusterId },
        query: { q: q || undefined, page_size: OFFERED_MAX },
        signal,
      }),
    staleTime: FRESH_MS,
    placeholderData: keepPreviousData,
  });
}

/** The largest replication factor of these topics, as far as it is known. */
export function useMostReplicas(clusterId: string, names: readonly string[]): number {
  return useQueries({
    queries: names.slice(0, LOOKED_AT_MAX).map((name) => ({
      queryKey: ["topic-search", clusterId, "replicas", name],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        api.get("/api/v1/clusters/{cluster_id}/topics/{name}", { blanks: { cluster_id: clusterId, name }, signal }),
      staleTime: FRESH_MS,
    })),
    combine: (found) =>
      Math.max(0, ...found.flatMap(({ data }) => data?.partitions.map((part) => part.replicas.length) ?? [])),
  });
}
