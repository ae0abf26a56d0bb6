/** Where a partition's log began and ended over time; of a topic its partitions' offsets, added. */
import { useQuery } from "@tanstack/react-query";
import type { components } from "@/generated/api";
import { api } from "./api-client";
import { CHART_RANGES, type ChartRange } from "./search";

export type Offsets = components["schemas"]["Offsets"];
export type OffsetsRange = Offsets["range"];

const POINTS = 240;
/** Hours come by the hour. */
const REFRESH_MS = 60_000;

/** Of an hour there is one point: what is shown begins with six. */
export const OFFSETS_RANGES = (Object.keys(CHART_RANGES) as ChartRange[]).filter(
  (range): range is OffsetsRange => range !== "1h",
);

/** The range that is shown: what the address says where there is one for it. */
export const offsetsRange = (asked: ChartRange | undefined): OffsetsRange =>
  OFFSETS_RANGES.find((range) => range === asked) ?? "24h";

export const useOffsets = (clusterId: string, topic: string, partition: number | undefined, range: OffsetsRange) =>
  useQuery({
    queryKey: ["analytics", clusterId, "offsets", topic, partition, range],
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/analytics/offsets", {
        blanks: { cluster_id: clusterId },
        query: { topic, partition, range, points: POINTS },
        signal,
      }),
    refetchInterval: REFRESH_MS,
  });

export type Points = [number, number | null][];

export const pointsOf = (at: number[], values: (number | null)[]): Points =>
  at.map((ts, index) => [ts, values[index] ?? null]);

/** How many records were held: between both offsets, where both are known. */
export const heldOf = ({ ts_ms, start_offset, end_offset }: Offsets): Points =>
  ts_ms.map((ts, index) => {
    const [start, end] = [start_offset[index] ?? null, end_offset[index] ?? null];
    return [ts, start === null || end === null ? null : Math.max(0, end - start)];
  });

/** By how much the log start rose over the range: what retention took; null where two points are not known. */
export function takenOf({ start_offset }: Offsets): number | null {
  const known = start_offset.filter((offset): offset is number => offset !== null);
  let taken = 0;
  for (let at = 1; at < known.length; at += 1) taken += Math.max(0, (known[at] ?? 0) - (known[at - 1] ?? 0));
  return known.length < 2 ? null : taken;
}
