import { SegmentedControl } from "@mantine/core";
import { formatByteRate, formatRecordRate } from "@/lib/format";
import { isRefusal } from "@/lib/problem";
import type { ChartRange } from "@/lib/search";
import {
  knownShare,
  lineEach,
  linesOf,
  rangeOf,
  rangesOf,
  type Subject,
  type Throughput,
  useThroughput,
} from "@/lib/throughput";
import { words } from "@/words/charts";
import { AsOf } from "./as-of";
import { Card, Lines } from "./card";
import { type Series, TimeChart } from "./charts/time-chart";
import { Empty } from "./empty";
import { ProblemPanel } from "./problem-panel";
import { Quantity } from "./quantity";

const say = words.throughputCard;

interface ThroughputCardProps {
  clusterId: string;
  subject: Subject;
  title?: string;
  /** What the address says. */
  range: ChartRange | undefined;
  onRange: (range: ChartRange) => void;
}

/** Of a group; each has two lines. */
const GROUP_TOPICS_SHOWN = 4;
const SOURCES = { samples: say.bySamples, hours: say.byHours, days: say.byDays } as const;

/** What went in and out a second: the last hour live, longer ranges from what Spark rolled up. */
export function ThroughputCard({ clusterId, subject, title = say.throughput, range, onRange }: ThroughputCardProps) {
  const shown = rangeOf(subject.of, range);
  const query = useThroughput(clusterId, subject, shown);
  const found = query.data;
  // Totals of a cluster are not for who sees a part of it: a card that can only be refused is none.
  if (!found && isRefusal(query)) return null;
  const ranges = rangesOf(subject.of);
  return (
    <Card
      title={title}
      aside={
        <>
          <span style={{ fontSize: "0.75rem" }}>
            <AsOf at={found?.as_of} staleAfter={found?.stale_after} />
          </span>
          {ranges.length > 1 && (
            <SegmentedControl
              size="xs"
              aria-label={say.timeRangeOf(title.toLowerCase())}
              data={ranges}
              value={shown}
              onChange={(value) => onRange(value as ChartRange)}
            />
          )}
        </>
      }
    >
      {query.isPending && <Lines rows={6} />}
      {!query.isPending && !found && (
        <div className="ps-card-body">
          <ProblemPanel error={query.error} onRetry={() => void query.refetch()} />
        </div>
      )}
      {found && <Figures found={found} clusterId={clusterId} subject={subject} />}
      {found && <Footing found={found} failed={query.isError} />}
    </Card>
  );
}

/** Whose events are marked on its lines, beside the cluster's own; of the whole cluster all are. */
function subjectsOf(subject: Subject): string[] | undefined {
  if ("topic" in subject) return [`topic/${subject.topic}`];
  if ("group" in subject) return [`group/${subject.group}`];
  if ("broker" in subject) return [`broker/${subject.broker}`];
  return undefined;
}

function Figures({ found, clusterId, subject }: { found: Throughput; clusterId: string; subject: Subject }) {
  const records = figureOf(found, subject, "records");
  const bytes = figureOf(found, subject, "bytes");
  if (records.length === 0 && bytes.length === 0)
    return (
      <Empty title={found.as_of === null ? say.notMeasuredYet : say.nothingIsKnownInThis}>
        {found.source === "samples" ? say.aRateIsKnownFrom : say.hoursAreRolledUpAfter}
      </Empty>
    );
  const from = found.ts_ms[0];
  const to = found.to === null ? undefined : Date.parse(found.to);
  const shared = { from, to, about: { clusterId, subjects: subjectsOf(subject) } };
  return (
    <div className="ps-card-body ps-cols-1-1">
      <figure style={{ margin: 0, minWidth: 0 }}>
        <figcaption className="ps-caption">{say.recordsASecond}</figcaption>
        <TimeChart series={records} label={say.recordsASecondOverTime} format={formatRecordRate} {...shared} />
      </figure>
      <figure style={{ margin: 0, minWidth: 0 }}>
        <figcaption className="ps-caption">{say.bytesASecond}</figcaption>
        <TimeChart series={bytes} label={say.bytesASecondOverTime} format={formatByteRate} {...shared} />
      </figure>
    </div>
  );
}

/** One subject has a line for what is written and one for what is read; several have a line each. */
function figureOf(found: Throughput, subject: Subject, unit: "records" | "bytes"): Series[] {
  if (subject.of === "group") return consumedAndProduced(found, unit);
  const isOne = subject.of === "cluster" || subject.of === "topic" || "broker" in subject || "partition" in subject;
  if (!isOne) return lineEach(found, `${unit}_in_per_s`);
  return linesOf(found, [
    { name: "written", measure: `${unit}_in_per_s` },
    { name: say.readByGroups, measure: `${unit}_out_per_s` },
  ]);
}

/** What a group consumes against what is produced for it: two lines a topic, of the busiest topics. */
function consumedAndProduced(found: Throughput, unit: "records" | "bytes"): Series[] {
  const name = (topic: string | null, what: string) => (found.series.length === 1 ? what : `${topic}, ${what}`);
  return found.series.slice(0, GROUP_TOPICS_SHOWN).flatMap((series) =>
    linesOf({ ...found, series: [series] }, [
      { name: name(series.topic, say.consumed), measure: `${unit}_out_per_s` },
      { name: name(series.topic, say.produced), measure: `${unit}_in_per_s` },
    ]),
  );
}

/** Of partitions Spark keeps what came in. */
const isWrittenAlone = (found: Throughput) => found.of === "partition" && found.source !== "samples";

function Footing({ found, failed }: { found: Throughput; failed: boolean }) {
  const known = knownShare(found);
  return (
    <div className="ps-legend ps-facts">
      {failed && <span className="ps-warn">{say.couldNotBeReadAgain}</span>}
      <span>
        {say.aPointEach(SOURCES[found.source], found.step_s < 3600 ? say.s(found.step_s) : say.h(found.step_s / 3600))}
      </span>
      {known !== null && known < 0.995 && (
        <span className="ps-warn">{say.atLeastIsKnown(<Quantity of="share" value={known} />)}</span>
      )}
      {found.reason && <span className="ps-warn">{found.reason}</span>}
      {found.of === "group" && found.series.length > GROUP_TOPICS_SHOWN && (
        <span className="ps-warn">{say.theBusiestOfTopics(GROUP_TOPICS_SHOWN, found.series.length)}</span>
      )}
      {!found.complete && !found.reason && <span className="ps-warn">{say.theBusiestAreShown}</span>}
      <span>{isWrittenAlone(found) ? say.readsAreNotKept : say.readsAreWhatConsumerGroups}</span>
    </div>
  );
}
