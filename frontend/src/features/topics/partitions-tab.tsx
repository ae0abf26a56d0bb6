import { useEffect, useRef } from "react";
import { Card } from "@/components/card";
import type { TableView } from "@/components/data-table";
import { Notice } from "@/components/notice";
import { usePage } from "@/lib/page";
import type { ChartRange } from "@/lib/search";
import type { Partition } from "@/lib/types";
import { words } from "@/words/topic-partitions";
import { PartitionPanel } from "./partition-panel";
import { PartitionTable } from "./partition-table";
import { byPartition } from "./replica-sizes";

const say = words.partitionsTab;

/** Every holder is asked each time: less often than what is only read from tables. */
const PACE_MS = 30_000;

interface PartitionsTabProps {
  clusterId: string;
  topic: string;
  partitions: Partition[];
  /** The one that is looked at; the address says it. */
  opened: number | undefined;
  onOpen: (partition: number | undefined) => void;
  /** How far back the charts of the one that is looked at reach. */
  range: ChartRange | undefined;
  onRange: (range: ChartRange) => void;
  view: TableView;
  onView: (view: TableView) => void;
}

/** The partitions of a topic with what their replicas' holders say, and the one that is looked at. */
export function PartitionsTab({
  clusterId,
  topic,
  partitions,
  opened,
  onOpen,
  range,
  onRange,
  view,
  onView,
}: PartitionsTabProps) {
  const query = usePage("replicas/{cluster_id}/{topic}", { cluster_id: clusterId, topic }, PACE_MS);
  const part = query.data?.parts.replicas;
  const reason = part?.status === "unavailable" ? part.reason : part?.data?.gaps.join("; ");
  const panel = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLElement | null>(null);
  const open = (partition: number) => {
    opener.current = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    onOpen(partition);
  };
  const close = () => {
    onOpen(undefined);
    opener.current?.focus();
    opener.current = null;
  };
  // Who opened it here is led to it; who came by a link begins at the top of the page.
  useEffect(() => {
    if (opened !== undefined && opener.current) panel.current?.focus();
  }, [opened]);
  return (
    <>
      {opened !== undefined && (
        <div ref={panel} tabIndex={-1} style={{ outline: "none" }}>
          <PartitionPanel
            clusterId={clusterId}
            topic={topic}
            partition={opened}
            row={partitions.find((row) => row.partition === opened)}
            replicas={query}
            range={range}
            onRange={onRange}
            onClose={close}
          />
        </div>
      )}
      <Card>
        {reason && (
          <div className="ps-card-body">
            <Notice tone="info">{say.someSizesNotKnown(reason)}</Notice>
          </div>
        )}
        <PartitionTable
          clusterId={clusterId}
          partitions={partitions}
          replicas={byPartition(part?.data)}
          onOpen={open}
          view={view}
          onView={onView}
        />
      </Card>
    </>
  );
}
