import { SegmentedControl } from "@mantine/core";
import { knownShare, linesOf, type Measure, useChart } from "@/lib/charts";
import { isRefusal } from "@/lib/problem";
import { CHART_RANGES, type ChartRange } from "@/lib/search";
import { Card, Lines } from "./card";
import { TimeChart } from "./charts/time-chart";
import { Empty } from "./empty";
import { ProblemPanel } from "./problem-panel";
import { Quantity } from "./quantity";
import { RelTime } from "./rel-time";

interface MeasureChartProps {
  title: string;
  clusterId: string;
  measure: Measure;
  about?: { group?: string; topic?: string };
  format?: (value: number) => string;
  range: ChartRange;
  onRange: (range: ChartRange) => void;
}

/** The group or topic that a chart is of; of neither, all of the cluster. */
function subjectsOf({ group, topic }: { group?: string; topic?: string } = {}): string[] | undefined {
  const found = [...(group ? [`group/${group}`] : []), ...(topic ? [`topic/${topic}`] : [])];
  return found.length > 0 ? found : undefined;
}

/** A measure over an hour or a quarter of a year, in the points that the server draws together. */
export function MeasureChart({ title, clusterId, measure, about, format, range, onRange }: MeasureChartProps) {
  const query = useChart(clusterId, measure, range, about);
  const chart = query.data;
  let body;
  if (query.isPending) body = <Lines rows={6} />;
  else if (!chart) {
    body = (
      <div className="ps-card-body">
        <ProblemPanel error={query.error} onRetry={isRefusal(query) ? undefined : () => void query.refetch()} />
      </div>
    );
  } else if (chart.series.length === 0) {
    body = <Empty title={chart.as_of === null ? "Not known yet" : "Nothing in this range"}>It needs samples.</Empty>;
  } else {
    body = (
      <div className="ps-card-body">
        <TimeChart
          label={`${title} over time`}
          format={format}
          series={linesOf(chart)}
          about={{ clusterId, subjects: subjectsOf(about) }}
        />
      </div>
    );
  }
  const known = chart ? knownShare(chart) : null;
  return (
    <Card
      title={title}
      aside={
        <SegmentedControl
          size="xs"
          aria-label={`Time range of ${title.toLowerCase()}`}
          data={Object.keys(CHART_RANGES)}
          value={range}
          onChange={(value) => onRange(value as ChartRange)}
        />
      }
    >
      {body}
      {chart?.as_of && (
        <div className="ps-legend ps-facts">
          <span className={query.isError ? "ps-warn" : undefined}>
            {query.isError && "could not be read again: "}as of <RelTime at={chart.as_of} />
          </span>
          {known !== null && (
            <span className={known < 0.9 ? "ps-warn" : undefined}>
              <Quantity of="share" value={known} /> of the range is known
            </span>
          )}
          <span>by {chart.source}</span>
          {!chart.complete && <span className="ps-warn">not all series are shown</span>}
        </div>
      )}
    </Card>
  );
}
