/** One measure over any range in as many points as a chart has: drawn together by the server, peaks kept. */
import { useQuery } from "@tanstack/react-query";
import type { components } from "@/generated/api";
import { words } from "@/words/charts";
import type { QueryOf } from "./addresses";
import { api } from "./api-client";
import { CHART_RANGES, type ChartRange } from "./search";

export type Chart = components["schemas"]["Chart"];
export type Measure = NonNullable<QueryOf<"/api/v1/clusters/{cluster_id}/analytics/chart">["measure"]>;

/** About one for two pixels of a chart's half of a page. */
const POINTS = 240;
const REFRESH_MS = 60_000;

export const useChart = (
  clusterId: string,
  measure: Measure,
  range: ChartRange,
  about: { group?: string; topic?: string } = {},
) =>
  useQuery({
    queryKey: ["analytics", clusterId, "chart", measure, range, about],
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/analytics/chart", {
        blanks: { cluster_id: clusterId },
        query: {
          measure,
          points: POINTS,
          from: new Date(Date.now() - CHART_RANGES[range] * 1000).toISOString(),
          ...about,
        },
        signal,
      }),
    refetchInterval: REFRESH_MS,
    // A chart reads much: coming back to the window does not ask for it again at once.
    staleTime: REFRESH_MS / 2,
  });

type Points = [number, number | null][];

/** Two lines a series, what is typical and the peak; a step of which nothing is known is a gap. */
export function linesOf({ ts_ms, series }: Pick<Chart, "ts_ms" | "series">): { name: string; points: Points }[] {
  const points = (values: (number | null)[]): Points => ts_ms.map((at, index) => [at, values[index] ?? null]);
  return series.flatMap((one) => {
    const name = one.topic ?? one.group ?? words.series.all;
    return [
      { name, points: points(one.typical) },
      { name: words.series.peak(name), points: points(one.highest) },
    ];
  });
}

/** How much of the range is known, 0 to 1; null of no series. */
export function knownShare({ series }: Pick<Chart, "series">): number | null {
  const known = series.flatMap((one) => one.known).map((share) => share ?? 0);
  return known.length === 0 ? null : known.reduce((sum, share) => sum + share, 0) / known.length;
}
