/** Records and bytes a second of a cluster, its brokers, topics, groups and partitions, over a range. */
import { useQuery } from "@tanstack/react-query";
import type { components } from "@/generated/api";
import { api } from "./api-client";
import { CHART_RANGES, type ChartRange } from "./search";

type Schemas = components["schemas"];
export type Throughput = Schemas["Throughput"];
export type ThroughputSeries = Schemas["ThroughputSeries"];
export type Sparklines = Schemas["Sparklines"];

/** What a chart is of. Without a broker's id it is of all of them, a line each. */
export type Subject =
  | { of: "cluster" }
  | { of: "broker"; broker?: number }
  | { of: "topic" | "partition"; topic: string }
  | { of: "group"; group: string };

const POINTS = 240;
/** Steps are 30 s long. */
const LIVE_MS = 15_000;
const HISTORY_MS = 60_000;
/** Of one question for a list's page. */
export const SPARKLINES_MAX = 100;

/** Spark rolls up neither brokers nor partitions, and of topics and groups an hour is kept live. */
export function rangesOf(of: Subject["of"]): ChartRange[] {
  const all = Object.keys(CHART_RANGES) as ChartRange[];
  if (of === "broker") return ["1h", "6h", "24h"];
  return of === "partition" ? ["1h"] : all;
}

/** The range that is shown: what the address says where the subject has it. */
export const rangeOf = (of: Subject["of"], asked: ChartRange | undefined): ChartRange =>
  asked !== undefined && rangesOf(of).includes(asked) ? asked : "1h";

export const useThroughput = (clusterId: string, subject: Subject, range: ChartRange) =>
  useQuery({
    queryKey: ["analytics", clusterId, "throughput", subject, range],
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/analytics/throughput", {
        blanks: { cluster_id: clusterId },
        query: { ...subject, range, points: POINTS },
        signal,
      }),
    refetchInterval: range === "1h" ? LIVE_MS : HISTORY_MS,
  });

/** The last hour of what a page of a list shows, by one question; nothing is asked for no names. */
export function useSparklines(clusterId: string, of: "topic" | "group" | "broker", names: readonly string[]) {
  const asked = [...new Set(names)].sort().slice(0, SPARKLINES_MAX);
  return useQuery({
    queryKey: ["analytics", clusterId, "sparklines", of, asked],
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/analytics/sparklines", {
        blanks: { cluster_id: clusterId },
        query: { of, name: asked },
        signal,
      }),
    enabled: asked.length > 0,
    // Another page of the list keeps the pictures that are there until its own come.
    placeholderData: (before) => before,
    refetchInterval: 2 * LIVE_MS,
  });
}

type Measure = "records_in_per_s" | "bytes_in_per_s" | "records_out_per_s" | "bytes_out_per_s";
interface Line {
  name: string;
  points: [number, number | null][];
}

/** One series as lines of these names; one of which nothing is known is left out. */
export function linesOf(found: Throughput, lines: { name: string; measure: Measure }[]): Line[] {
  const [series] = found.series;
  if (series === undefined) return [];
  return lines
    .map(({ name, measure }) => ({ name, points: pointsOf(found.ts_ms, series[measure]) }))
    .filter((line) => line.points.some(([, value]) => value !== null));
}

/** A line a series, named by what they differ in. */
export const lineEach = (found: Throughput, measure: Measure): Line[] =>
  found.series
    .map((series) => ({ name: seriesName(series), points: pointsOf(found.ts_ms, series[measure]) }))
    .filter((line) => line.points.some(([, value]) => value !== null));

function seriesName({ broker, group, partition, topic }: ThroughputSeries): string {
  if (broker !== null) return `broker ${broker}`;
  if (partition !== null) return `partition ${partition}`;
  return topic ?? group ?? "all";
}

const pointsOf = (at: number[], values: (number | null)[]): [number, number | null][] =>
  at.map((ts, index) => [ts, values[index] ?? null]);

/** How much of the steps that were seen at all is known, 0 to 1; null where none was. */
export function knownShare({ series }: Throughput): number | null {
  const seen = series.flatMap((one) => one.known).filter((share): share is number => share !== null && share > 0);
  return seen.length === 0 ? null : seen.reduce((sum, share) => sum + share, 0) / seen.length;
}
