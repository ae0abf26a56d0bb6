import { Button } from "@mantine/core";
import { IconRefresh, IconServerOff } from "@tabler/icons-react";
import { useState } from "react";
import { Card, Lines } from "@/components/card";
import { Empty } from "@/components/empty";
import { Notice } from "@/components/notice";
import { PlainSelect } from "@/components/plain-select";
import { ProblemPanel } from "@/components/problem-panel";
import { Quantity } from "@/components/quantity";
import { RelTime } from "@/components/rel-time";
import { LOOKS_MAX, type SegmentDirectory, usePartitionSegments } from "@/lib/partition-segments";
import { ApiError } from "@/lib/problem";
import type { Partition } from "@/lib/types";
import { words } from "@/words/topic-partitions";
import { SegmentTable } from "./segment-table";

const say = words.segments;

interface SegmentsCardProps {
  clusterId: string;
  topic: string;
  row: Partition;
}

/** The leader, or the first replica while there is none; undefined: it has no replica. */
const firstAsked = ({ leader, replicas }: Partition): number | undefined =>
  leader !== null && replicas.includes(leader) ? leader : replicas[0];

/** The segments of one replica. Its broker's host is asked when somebody says so: it reads a directory for it. */
export function SegmentsCard({ clusterId, topic, row }: SegmentsCardProps) {
  const [looks, setLooks] = useState(false);
  const [picked, setPicked] = useState<number | undefined>();
  const broker = picked !== undefined && row.replicas.includes(picked) ? picked : firstAsked(row);
  if (!looks)
    return (
      <Card title={say.segments} padded>
        <p className="ps-muted" style={{ margin: "0 0 8px" }}>
          {say.whatTheyAre}
        </p>
        <Button size="xs" variant="default" onClick={() => setLooks(true)}>
          {say.listThem}
        </Button>
      </Card>
    );
  return (
    <SegmentList
      key={broker}
      clusterId={clusterId}
      topic={topic}
      row={row}
      broker={broker}
      onBroker={(id) => setPicked(id)}
    />
  );
}

type SegmentsQuery = ReturnType<typeof usePartitionSegments>["query"];

interface SegmentListProps extends SegmentsCardProps {
  broker: number | undefined;
  onBroker: (broker: number) => void;
}

function SegmentList({ clusterId, topic, row, broker, onBroker }: SegmentListProps) {
  const { query, again } = usePartitionSegments({ clusterId, topic, partition: row.partition, broker });
  if (query.error instanceof ApiError && query.error.code === "brokers-of-others")
    return (
      <Card title={say.segments}>
        <Empty icon={<IconServerOff size={20} />} title={say.runByOthers}>
          {say.noAgentThere}
        </Empty>
      </Card>
    );
  return (
    <Card
      title={say.segments}
      aside={
        <>
          <PlainSelect
            label={say.whoseReplica}
            options={row.replicas.map((id) => ({
              value: String(id),
              label: id === row.leader ? say.brokerThatLeads(id) : say.broker(id),
            }))}
            value={broker === undefined ? undefined : String(broker)}
            onPick={(value) => onBroker(Number(value))}
          />
          <Button
            size="xs"
            variant="default"
            leftSection={<IconRefresh size={14} />}
            loading={query.isFetching && !query.isFetchingNextPage}
            onClick={again}
          >
            {say.lookAgain}
          </Button>
        </>
      }
    >
      {query.isPending && <Lines rows={4} />}
      {query.isError && (
        <div className="ps-card-body">
          <ProblemPanel
            error={query.error}
            onRetry={query.isFetchNextPageError ? () => void query.fetchNextPage() : again}
          />
        </div>
      )}
      {query.isError && query.data && (
        <div className="ps-card-body">
          <Notice tone="warn">{say.asItWas(<RelTime at={query.dataUpdatedAt} />)}</Notice>
        </div>
      )}
      <Found query={query} partition={row.partition} />
    </Card>
  );
}

/** What was read so far, and the way to what is older. */
function Found({ query, partition }: { query: SegmentsQuery; partition: number }) {
  const pages = query.data?.pages ?? [];
  const segments = pages.flatMap((page) => page.data);
  const [first] = pages;
  if (!first) return null;
  return (
    <>
      {segments.length > 0 && <SegmentTable segments={segments} partition={partition} />}
      {segments.length === 0 && !query.hasNextPage && <Empty title={say.none} />}
      {query.hasNextPage && (
        <div className="ps-card-body">
          <Button
            size="xs"
            variant="default"
            loading={query.isFetchingNextPage}
            onClick={() => void query.fetchNextPage()}
          >
            {say.showOlder}
          </Button>
        </div>
      )}
      <div className="ps-legend" style={{ flexWrap: "wrap" }}>
        <span>{say.readOn(<RelTime at={query.dataUpdatedAt} />, segments.length)}</span>
        {first.directories.map((each) => (
          <Directory key={`${each.role} ${each.directory}`} directory={each} />
        ))}
        {pages.length >= LOOKS_MAX && pages.at(-1)?.page.has_more && <span>{say.olderByRest}</span>}
      </div>
    </>
  );
}

/** What one directory holds in all, whatever of it is listed. */
function Directory({ directory }: { directory: SegmentDirectory }) {
  const { total, total_bytes: records, other_bytes: others } = directory;
  return (
    <span>
      <span className="ps-mono" style={{ overflowWrap: "anywhere" }}>
        {directory.directory}
      </span>
      {directory.role === "future" && say.andCopyOnItsWay}:{" "}
      {say.holds(total, <Bytes of={records} />, <Bytes of={others} />)}
    </span>
  );
}

function Bytes({ of }: { of: number | null }) {
  return of === null ? say.unknownBytes : <Quantity of="bytes" value={of} />;
}
