import { SegmentedControl } from "@mantine/core";
import { formatCompact } from "@/lib/format";
import { heldOf, type Offsets, OFFSETS_RANGES, offsetsRange, pointsOf, takenOf, useOffsets } from "@/lib/offsets";
import { isRefusal } from "@/lib/problem";
import type { ChartRange } from "@/lib/search";
import { words } from "@/words/charts";
import { AsOf } from "./as-of";
import { Card, Lines } from "./card";
import { TimeChart } from "./charts/time-chart";
import { Empty } from "./empty";
import { ProblemPanel } from "./problem-panel";
import { Quantity } from "./quantity";

const say = words.offsetsCard;

interface OffsetsCardProps {
  clusterId: string;
  topic: string;
  /** Of this one; without it the topic's, added. */
  partition?: number;
  /** What the address says. */
  range: ChartRange | undefined;
  onRange: (range: ChartRange) => void;
}

/** Retention at work: where the log began and ended, and what it held between. */
export function OffsetsCard({ clusterId, topic, partition, range, onRange }: OffsetsCardProps) {
  const shown = offsetsRange(range);
  const query = useOffsets(clusterId, topic, partition, shown);
  const found = query.data;
  if (!found && isRefusal(query)) return null;
  const title = partition === undefined ? say.ofATopic : say.ofAPartition(partition);
  return (
    <Card
      title={title}
      aside={
        <>
          <span style={{ fontSize: "0.75rem" }}>
            <AsOf at={found?.as_of} staleAfter={found?.stale_after} />
          </span>
          <SegmentedControl
            size="xs"
            aria-label={say.timeRangeOf(title)}
            data={OFFSETS_RANGES}
            value={shown}
            onChange={(value) => onRange(value as ChartRange)}
          />
        </>
      }
    >
      {query.isPending && <Lines rows={6} />}
      {!query.isPending && !found && (
        <div className="ps-card-body">
          <ProblemPanel error={query.error} onRetry={() => void query.refetch()} />
        </div>
      )}
      {found && <Figures found={found} clusterId={clusterId} topic={topic} />}
      {found && <Footing found={found} failed={query.isError} />}
    </Card>
  );
}

function Figures({ found, clusterId, topic }: { found: Offsets; clusterId: string; topic: string }) {
  const isKnown = [...found.start_offset, ...found.end_offset].some((offset) => offset !== null);
  if (!isKnown)
    return <Empty title={found.as_of === null ? say.notKnownYet : say.nothingIsKnownInThis}>{say.whenHoursCome}</Empty>;
  const shared = {
    from: found.ts_ms[0],
    to: found.to === null ? undefined : Date.parse(found.to),
    about: { clusterId, subjects: [`topic/${topic}`] },
  };
  return (
    <div className="ps-card-body ps-cols-1-1">
      <figure style={{ margin: 0, minWidth: 0 }}>
        <figcaption className="ps-caption">{say.offsets}</figcaption>
        <TimeChart
          label={say.offsetsOverTime}
          series={[
            { name: say.logEnd, points: pointsOf(found.ts_ms, found.end_offset) },
            { name: say.logStart, points: pointsOf(found.ts_ms, found.start_offset) },
          ]}
          {...shared}
        />
      </figure>
      <figure style={{ margin: 0, minWidth: 0 }}>
        <figcaption className="ps-caption">{say.recordsHeld}</figcaption>
        <TimeChart
          label={say.recordsHeldOverTime}
          series={[{ name: say.held, points: heldOf(found) }]}
          format={formatCompact}
          area
          {...shared}
        />
      </figure>
    </div>
  );
}

function Footing({ found, failed }: { found: Offsets; failed: boolean }) {
  const taken = takenOf(found);
  return (
    <div className="ps-legend ps-facts">
      {failed && <span className="ps-warn">{say.couldNotBeReadAgain}</span>}
      {found.as_of !== null && <span>{(found.source === "hours" ? say.byHours : say.byDays)(found.step_s)}</span>}
      {taken !== null && <span>{say.retentionTook(<Quantity of="records" value={taken} />)}</span>}
      {found.reason && <span className="ps-warn">{found.reason}</span>}
      <span>{say.heldIsBetween}</span>
    </div>
  );
}
