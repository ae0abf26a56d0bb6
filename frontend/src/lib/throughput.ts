/** Records and bytes a second of a cluster, its brokers, topics, groups and partitions, over a range. */
import { useQuery } from "@tanstack/react-query";
import type { components } from "@/generated/api";
import { words } from "@/words/charts";
import { api } from "./api-client";
import { type Batched, batched } from "./batch";
import { CHART_RANGES, type ChartRange } from "./search";

type Schemas = components["schemas"];
export type Throughput = Schemas["Throughput"];
export type ThroughputSeries = Schemas["ThroughputSeries"];
export type Sparklines = Schemas["Sparklines"];

/** What a chart is of. Without a broker's or a partition's id it is of all of them, a line each. */
export type Subject =
  | { of: "cluster" }
  | { of: "broker"; broker?: number }
  | { of: "topic"; topic: string }
  | { of: "partition"; topic: string; partition?: number }
  | { of: "group"; group: string };

const POINTS = 240;
/** Steps are 30 s long. */
const LIVE_MS = 15_000;
const HISTORY_MS = 60_000;
/** Of one question for a list's page. */
export const SPARKLINES_MAX = 100;

/** Spark rolls up no brokers; of topics, groups and partitions an hour is kept live. */
export function rangesOf(of: Subject["of"]): ChartRange[] {
  const all = Object.keys(CHART_RANGES) as ChartRange[];
  return of === "broker" ? ["1h", "6h", "24h"] : all;
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

export type ListOf = "topic" | "group" | "broker";
export type SmallLine = Sparklines["rows"][number];

const loaders = new Map<string, Batched<SmallLine>>();
/** Rows that are drawn together ask together. */
const TOGETHER_MS = 30;

function loaderOf(clusterId: string, of: ListOf): Batched<SmallLine> {
  const key = `${of} ${clusterId}`;
  const known = loaders.get(key);
  if (known) return known;
  const made = batched(
    async (names) => {
      const found = await api.get("/api/v1/clusters/{cluster_id}/analytics/sparklines", {
        blanks: { cluster_id: clusterId },
        query: { of, name: names },
      });
      return new Map(found.rows.map((row) => [row.name, row]));
    },
    { most: SPARKLINES_MAX, waitMs: TOGETHER_MS },
  );
  loaders.set(key, made);
  return made;
}

/** The last hour of one row; the rows of a list's page are one question. Null: nothing is known of it. */
export const useSparkline = (clusterId: string, of: ListOf, name: string) =>
  useQuery({
    queryKey: ["analytics", clusterId, "sparkline", of, name],
    queryFn: async () => (await loaderOf(clusterId, of)(name)) ?? null,
    refetchInterval: 2 * LIVE_MS,
    // Going through the pages of a list asks for none again that was just there.
    staleTime: LIVE_MS,
    // A picture beside a row: what failed is asked again with the next round, not thrice at once.
    retry: false,
  });

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
  if (broker !== null) return words.series.broker(broker);
  if (partition !== null) return words.series.partition(partition);
  return topic ?? group ?? words.series.all;
}

const pointsOf = (at: number[], values: (number | null)[]): [number, number | null][] =>
  at.map((ts, index) => [ts, values[index] ?? null]);

/** How much of the steps that were seen at all is known, 0 to 1; null where none was. */
export function knownShare({ series }: Throughput): number | null {
  const seen = series.flatMap((one) => one.known).filter((share): share is number => share !== null && share > 0);
  return seen.length === 0 ? null : seen.reduce((sum, share) => sum + share, 0) / seen.length;
}
