/** A partition's segments as one broker's host lists them: asked for by somebody who looks, never by itself. */
import type { components } from "@/generated/api";
import { api } from "./api-client";
import { useLooks } from "./looks";

export type SegmentPage = components["schemas"]["SegmentPage"];
export type Segment = SegmentPage["data"][number];
export type SegmentDirectory = SegmentPage["directories"][number];

/** Segments that one look brings at most, and how many looks back a page keeps. */
const SEGMENTS_A_LOOK = 100;
export const LOOKS_MAX = 20;

interface Place {
  clusterId: string;
  topic: string;
  partition: number;
  /** Whose replica; undefined: the leader's. */
  broker: number | undefined;
}

/** The newest first. `again` looks at the newest anew and forgets what was before. */
export const usePartitionSegments = ({ clusterId, topic, partition, broker }: Place) =>
  useLooks<SegmentPage>({
    queryKey: ["partition-segments", clusterId, topic, partition, broker],
    read: (cursor, signal) =>
      api.get("/api/v1/clusters/{cluster_id}/topics/{name}/partitions/{partition}/segments", {
        blanks: { cluster_id: clusterId, name: topic, partition: String(partition) },
        query: { broker, cursor, page_size: SEGMENTS_A_LOOK },
        signal,
      }),
    most: LOOKS_MAX,
  });
