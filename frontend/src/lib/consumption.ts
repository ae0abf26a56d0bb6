/** What consumer groups read of single partitions over the last hour. */
import { useQuery } from "@tanstack/react-query";
import type { components } from "@/generated/api";
import { api } from "./api-client";
import { type Batched, batched } from "./batch";

type Schemas = components["schemas"];
export type Consumption = Schemas["Consumption"];
export type Consumed = Consumption["rows"][number];

const ADDRESS = "/api/v1/clusters/{cluster_id}/analytics/consumption";
/** Of one question. */
export const CONSUMED_MAX = 100;
/** Rows that are drawn together ask together. */
const TOGETHER_MS = 30;
const EVERY_MS = 30_000;
const FRESH_MS = 15_000;

/** A row, and when newer numbers were due. */
export interface ConsumedLine {
  row: Consumed;
  staleAfter: string | null;
}

const loaders = new Map<string, Batched<ConsumedLine>>();

function loaderOf(clusterId: string, group: string): Batched<ConsumedLine> {
  const key = `${clusterId} ${group}`;
  const known = loaders.get(key);
  if (known) return known;
  const made = batched(
    async (places) => {
      const found = await api.get(ADDRESS, {
        blanks: { cluster_id: clusterId },
        query: { group: [group], on: places },
      });
      const lines = found.rows.map((row): [string, ConsumedLine] => [
        placeOf(row.topic, row.partition),
        { row, staleAfter: found.stale_after },
      ]);
      return new Map(lines);
    },
    { most: CONSUMED_MAX, waitMs: TOGETHER_MS },
  );
  loaders.set(key, made);
  return made;
}

const placeOf = (topic: string, partition: number) => `${topic}/${partition}`;

/** Of one partition; the partitions of a group's page are one question. Null: nothing is known of it. */
export const useConsumed = (clusterId: string, group: string, topic: string, partition: number) =>
  useQuery({
    queryKey: ["analytics", clusterId, "consumption", group, topic, partition],
    queryFn: async () => (await loaderOf(clusterId, group)(placeOf(topic, partition))) ?? null,
    refetchInterval: EVERY_MS,
    staleTime: FRESH_MS,
    // A picture beside a row: what failed is asked again with the next round.
    retry: false,
  });

/** The groups that commit on a partition, those that read most of it first. */
export const usePartitionReaders = (clusterId: string, topic: string, partition: number) =>
  useQuery({
    queryKey: ["analytics", clusterId, "consumption", topic, partition],
    queryFn: ({ signal }) =>
      api.get(ADDRESS, { blanks: { cluster_id: clusterId }, query: { on: [placeOf(topic, partition)] }, signal }),
    refetchInterval: EVERY_MS,
  });

/** The newest rate; null where it is not known, or no longer. */
export function lastOf({ row, staleAfter }: ConsumedLine, now: number): number | null {
  if (staleAfter !== null && now > Date.parse(staleAfter)) return null;
  return row.last;
}
