import { SegmentedControl } from "@mantine/core";
import { knownShare, linesOf, type Measure, useChart } from "@/lib/charts";
import { isRefusal } from "@/lib/problem";
import { CHART_RANGES, type ChartRange } from "@/lib/search";
import { wordOf } from "@/lib/word-of";
import { words } from "@/words/charts";
import { Card, Lines } from "./card";
import { TimeChart } from "./charts/time-chart";
import { Empty } from "./empty";
import { ProblemPanel } from "./problem-panel";
import { Quantity } from "./quantity";
import { RelTime } from "./rel-time";

const say = words.measureChart;

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
    body = <Empty title={chart.as_of === null ? say.notKnownYet : say.nothingInThisRange}>{say.itNeedsSamples}</Empty>;
  } else {
    body = (
      <div className="ps-card-body">
        <TimeChart
          label={say.overTime(title)}
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
          aria-label={say.timeRangeOf(title.toLowerCase())}
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
            {say.asOf(query.isError && say.couldNotBeReadAgain, <RelTime at={chart.as_of} />)}
          </span>
          {known !== null && (
            <span className={known < 0.9 ? "ps-warn" : undefined}>
              {say.ofTheRangeIsKnown(<Quantity of="share" value={known} />)}
            </span>
          )}
          <span>{say.by(wordOf(say.sources, chart.source))}</span>
          {!chart.complete && <span className="ps-warn">{say.notAllSeriesAreShown}</span>}
        </div>
      )}
    </Card>
  );
}
