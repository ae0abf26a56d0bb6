import { SegmentedControl } from "@mantine/core";
import { IconChartHistogram } from "@tabler/icons-react";
import { useMemo } from "react";
import { useLag } from "@/lib/analytics";
import { seriesByTopic } from "@/lib/lag";
import { RANGES, type Range } from "@/lib/search";
import { words } from "@/words/charts";
import { AsOf } from "./as-of";
import { Card, Lines } from "./card";
import { TimeChart } from "./charts/time-chart";
import { Empty } from "./empty";
import { ProblemPanel } from "./problem-panel";
import { TimeLag } from "./time-lag";

const say = words.lagHistory;

interface LagHistoryProps {
  clusterId: string;
  group: string;
  range: Range;
  onRange: (range: Range) => void;
  firstVerdictAt: string | null | undefined;
}

/** A group's lag over time, in records and in time, from Spark's gold table. */
export function LagHistory({ clusterId, group, range, onRange, firstVerdictAt }: LagHistoryProps) {
  const query = useLag(clusterId, range, group);
  const data = query.data;
  const records = useMemo(() => seriesByTopic(data?.data ?? [], "lag_records"), [data]);
  // The group, and the topics that it reads.
  const subjects = [`group/${group}`, ...records.map(({ name }) => `topic/${name}`)];
  const aside = (
    <>
      <span style={{ fontSize: "0.75rem" }}>
        <AsOf at={data?.as_of} staleAfter={data?.stale_after} />
      </span>
      <SegmentedControl
        size="xs"
        aria-label={say.timeRange}
        data={Object.keys(RANGES)}
        value={range}
        onChange={(value) => onRange(value as Range)}
      />
    </>
  );
  let body;
  if (query.isPending) body = <Lines rows={6} />;
  else if (query.isError && !data) {
    body = (
      <div className="ps-card-body">
        <ProblemPanel error={query.error} onRetry={() => void query.refetch()} />
      </div>
    );
  } else if (records.length === 0) {
    body = (
      <Empty icon={<IconChartHistogram size={20} />} title={say.noHistoryInThisRange}>
        {say.offsetsAreSampledEveryFew}
      </Empty>
    );
  } else {
    body = (
      <div className="ps-card-body ps-cols-1-1">
        <figure style={{ margin: 0, minWidth: 0 }}>
          <figcaption className="ps-caption">{say.lagRecords}</figcaption>
          <TimeChart series={records} label={say.lagOfGroupOver(group)} about={{ clusterId, subjects }} area />
        </figure>
        <figure style={{ margin: 0, minWidth: 0 }}>
          <figcaption className="ps-caption">{say.behindByTime}</figcaption>
          <TimeLag
            group={group}
            points={data?.data ?? []}
            firstVerdictAt={firstVerdictAt}
            about={{ clusterId, subjects }}
          />
        </figure>
      </div>
    );
  }
  return (
    <Card title={say.lagOverTime} aside={aside}>
      {body}
    </Card>
  );
}
