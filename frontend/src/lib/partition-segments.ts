/** A partition's segments as one broker's host lists them: asked for by somebody who looks, never by itself. */
import { type InfiniteData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import type { components } from "@/generated/api";
import { api } from "./api-client";

export type SegmentPage = components["schemas"]["SegmentPage"];
export type Segment = SegmentPage["data"][number];
export type SegmentDirectory = SegmentPage["directories"][number];

/** Segments that one look brings at most, and how many looks back a page keeps. */
const SEGMENTS_A_LOOK = 100;
export const LOOKS_MAX = 20;

type Pages = InfiniteData<SegmentPage, string | undefined>;

interface Place {
  clusterId: string;
  topic: string;
  partition: number;
  /** Whose replica; undefined: the leader's. */
  broker: number | undefined;
}

/** The newest first. `again` looks at the newest anew and forgets what was before. */
export function usePartitionSegments({ clusterId, topic, partition, broker }: Place) {
  const client = useQueryClient();
  const queryKey = ["partition-segments", clusterId, topic, partition, broker];
  const query = useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) =>
      api.get("/api/v1/clusters/{cluster_id}/topics/{name}/partitions/{partition}/segments", {
        blanks: { cluster_id: clusterId, name: topic, partition: String(partition) },
        query: { broker, cursor: pageParam, page_size: SEGMENTS_A_LOOK },
        signal,
      }),
    getNextPageParam: (last, pages) => (pages.length >= LOOKS_MAX ? undefined : (last.page.next ?? undefined)),
    // Each look takes the host's time: it is asked when somebody says so.
    retry: false,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const again = () => {
    client.setQueryData<Pages>(
      queryKey,
      (old) => old && { pages: old.pages.slice(0, 1), pageParams: old.pageParams.slice(0, 1) },
    );
    void query.refetch();
  };
  return { query, again };
}
