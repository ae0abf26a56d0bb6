import { SegmentedControl } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { ChartSubject } from "@/lib/chart-events";
import { pointsOf, type Told } from "@/lib/insights";
import { type Span, SPANS } from "@/lib/search";
import { words } from "@/words/charts";
import { TimeChart } from "./charts/time-chart";
import { type FileSource, InsightCard } from "./insight-card";

const say = words.rollupChart;

interface Figure<Row> {
  caption: string;
  format?: (value: number) => string;
  /** `of` says which rows are this line's; without it all are. */
  lines: { name: string; of?: (row: Row) => boolean; value: (row: Row) => number | null }[];
}

interface RollupChartProps<Row> {
  title: string;
  query: UseQueryResult<Told<Row> & { period_s: number }>;
  span: Span;
  onSpan: (span: Span) => void;
  /** At most two stand beside each other. */
  figures: Figure<Row>[];
  file?: FileSource;
  /** What happened to it is marked on its lines. */
  about?: ChartSubject;
  /** The same rows as numbers, below the lines. */
  table?: (rows: Row[], periodS: number) => ReactNode;
}

/** Hours or days of one series as lines; periods without samples are gaps. */
export function RollupChart<Row extends { ts: string }>({
  title,
  query,
  span,
  onSpan,
  figures,
  file,
  about,
  table,
}: RollupChartProps<Row>) {
  return (
    <InsightCard
      title={title}
      query={query}
      file={file}
      aside={
        <SegmentedControl
          size="xs"
          aria-label={say.timeRangeOf(title.toLowerCase())}
          data={Object.keys(SPANS)}
          value={span}
          onChange={(value) => onSpan(value as Span)}
        />
      }
      empty={say.hoursAreRolledUpAfter}
    >
      {(rows) => (
        <>
          <div className="ps-card-body ps-cols-1-1">
            {figures.map((figure) => (
              <figure key={figure.caption} style={{ margin: 0, minWidth: 0 }}>
                <figcaption className="ps-caption">{figure.caption}</figcaption>
                <TimeChart
                  label={say.overTime(figure.caption)}
                  format={figure.format}
                  about={about}
                  area
                  series={figure.lines.map((line) => ({
                    name: line.name,
                    points: pointsOf(line.of ? rows.filter(line.of) : rows, query.data?.period_s ?? 3600, line.value),
                  }))}
                />
              </figure>
            ))}
          </div>
          {table?.(rows, query.data?.period_s ?? 3600)}
        </>
      )}
    </InsightCard>
  );
}
