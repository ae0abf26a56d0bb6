import { ActionIcon } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { Card } from "@/components/card";
import { Notice } from "@/components/notice";
import { OffsetsCard } from "@/components/offsets-card";
import { Stats } from "@/components/stats";
import { ThroughputCard } from "@/components/throughput-card";
import { formatBytes, formatInteger } from "@/lib/format";
import type { ChartRange } from "@/lib/search";
import type { Partition } from "@/lib/types";
import { words } from "@/words/topic-partitions";
import { PartitionReaders } from "./partition-readers";
import { type ReplicasQuery, ReplicaTable } from "./replica-sizes";
import { SegmentsCard } from "./segments-card";

const say = words.partitionPanel;

interface PartitionPanelProps {
  clusterId: string;
  topic: string;
  partition: number;
  /** Undefined: the topic has no such partition. */
  row: Partition | undefined;
  replicas: ReplicasQuery;
  /** How far back its charts reach; the address says it. */
  range: ChartRange | undefined;
  onRange: (range: ChartRange) => void;
  onClose: () => void;
}

/** One partition: where its log begins and ends, what goes in and out, who reads it, its replicas and their segments. */
export function PartitionPanel({
  clusterId,
  topic,
  partition,
  row,
  replicas,
  range,
  onRange,
  onClose,
}: PartitionPanelProps) {
  const close = (
    <ActionIcon onClick={onClose} size="sm" aria-label={say.closePartition(partition)}>
      <IconX size={14} />
    </ActionIcon>
  );
  if (!row)
    return (
      <Card title={say.partition(partition)} aside={close} padded>
        <Notice tone="info">{say.noSuchPartition(partition)}</Notice>
      </Card>
    );
  const records = row.log_end === null || row.log_start === null ? null : row.log_end - row.log_start;
  return (
    <div className="ps-stack">
      <Card title={say.partition(partition)} aside={close}>
        <Stats
          items={[
            {
              label: say.leader,
              value: row.leader === null || row.leader < 0 ? say.none : say.broker(row.leader),
              tone: row.leader === null || row.leader < 0 ? "bad" : undefined,
              note: say.leaderEpoch(formatInteger(row.leader_epoch)),
            },
            { label: say.logStart, value: formatInteger(row.log_start), note: say.firstOffsetHeld },
            { label: say.logEnd, value: formatInteger(row.log_end), note: say.nextOffset },
            { label: say.recordsHeld, value: formatInteger(records), note: say.logEndLessLogStart },
            {
              label: say.size,
              value: formatBytes(row.size_bytes),
              title: row.size_bytes === null ? undefined : say.bytes(row.size_bytes),
              note: say.leadersCopy,
            },
          ]}
        />
        <ReplicaTable query={replicas} partition={partition} />
      </Card>
      <ThroughputCard
        clusterId={clusterId}
        subject={{ of: "partition", topic, partition }}
        title={say.throughputOf(partition)}
        range={range}
        onRange={onRange}
      />
      <PartitionReaders clusterId={clusterId} topic={topic} partition={partition} />
      <OffsetsCard clusterId={clusterId} topic={topic} partition={partition} range={range} onRange={onRange} />
      <SegmentsCard key={partition} clusterId={clusterId} topic={topic} row={row} />
    </div>
  );
}
