import { ActionIcon } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { Card } from "@/components/card";
import { Notice } from "@/components/notice";
import { Stats } from "@/components/stats";
import { ThroughputCard } from "@/components/throughput-card";
import { formatBytes, formatInteger } from "@/lib/format";
import type { Partition } from "@/lib/types";
import { type ReplicasQuery, ReplicaTable } from "./replica-sizes";
import { SegmentsCard } from "./segments-card";

interface PartitionPanelProps {
  clusterId: string;
  topic: string;
  partition: number;
  /** Undefined: the topic has no such partition. */
  row: Partition | undefined;
  replicas: ReplicasQuery;
  onClose: () => void;
}

/** One partition: where its log begins and ends, what goes in and out, its replicas and their segments. */
export function PartitionPanel({ clusterId, topic, partition, row, replicas, onClose }: PartitionPanelProps) {
  const close = (
    <ActionIcon onClick={onClose} size="sm" aria-label={`Close partition ${partition}`}>
      <IconX size={14} />
    </ActionIcon>
  );
  if (!row)
    return (
      <Card title={`Partition ${partition}`} aside={close} padded>
        <Notice tone="info">This topic has no partition {partition}.</Notice>
      </Card>
    );
  const records = row.log_end === null || row.log_start === null ? null : row.log_end - row.log_start;
  return (
    <div className="ps-stack">
      <Card title={`Partition ${partition}`} aside={close}>
        <Stats
          items={[
            {
              label: "Leader",
              value: row.leader === null || row.leader < 0 ? "none" : `broker ${row.leader}`,
              tone: row.leader === null || row.leader < 0 ? "bad" : undefined,
              note: `leader epoch ${formatInteger(row.leader_epoch)}`,
            },
            { label: "Log start", value: formatInteger(row.log_start), note: "first offset held" },
            { label: "Log end", value: formatInteger(row.log_end), note: "next offset" },
            { label: "Records held", value: formatInteger(records), note: "log end less log start" },
            {
              label: "Size",
              value: formatBytes(row.size_bytes),
              title: row.size_bytes === null ? undefined : `${formatInteger(row.size_bytes)} bytes`,
              note: "leader’s copy",
            },
          ]}
        />
        <ReplicaTable query={replicas} partition={partition} />
      </Card>
      <ThroughputCard
        clusterId={clusterId}
        subject={{ of: "partition", topic, partition }}
        title={`Throughput of partition ${partition}`}
        range="1h"
        onRange={() => undefined}
      />
      <p className="ps-muted" style={{ fontSize: "0.75rem", margin: 0 }}>
        Of one partition the last hour is kept; the topic’s own throughput reaches further back.
      </p>
      <SegmentsCard key={partition} clusterId={clusterId} topic={topic} row={row} />
    </div>
  );
}
