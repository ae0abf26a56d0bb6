import { createColumnHelper } from "@tanstack/react-table";
import { BrokerLink } from "@/components/broker-link";
import { Metered } from "@/components/metered";
import { DataTable, type TableView } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { Quantity } from "@/components/quantity";
import { Replicas } from "@/components/replicas";
import { Status } from "@/components/status";
import { formatInteger } from "@/lib/format";
import type { Partition, PartitionReplicas } from "@/lib/types";
import { words } from "@/words/topic-partitions";
import { HEAT_MAP_FROM, HeatMap } from "./heat-map";
import { ReplicaSizes } from "./replica-sizes";

const say = words.partitionTable;

const column = createColumnHelper<Partition>();
const columns = (
  clusterId: string,
  top: number,
  replicas: ReadonlyMap<number, PartitionReplicas>,
  onOpen: (partition: number) => void,
) => [
  column.accessor("partition", {
    header: say.partition,
    meta: { align: "right" },
    cell: ({ row }) => (
      <button
        type="button"
        className="ps-link"
        title={say.throughputAndReplicas}
        onClick={() => onOpen(row.original.partition)}
      >
        {row.original.partition}
      </button>
    ),
  }),
  column.accessor((row) => row.leader ?? -1, {
    id: "leader",
    header: say.leader,
    cell: ({ row }) =>
      row.original.leader === null || row.original.leader < 0 ? (
        <Status tone="bad" label={say.none} />
      ) : (
        <BrokerLink clusterId={clusterId} id={row.original.leader} />
      ),
  }),
  column.display({
    id: "replicas",
    header: say.replicas,
    cell: ({ row }) => (
      <Replicas
        clusterId={clusterId}
        replicas={row.original.replicas}
        isr={row.original.isr}
        leader={row.original.leader}
      />
    ),
  }),
  column.accessor((row) => row.isr.length - row.replicas.length, {
    id: "isr",
    header: say.inSync,
    meta: { align: "right", hideBelow: "sm" },
    cell: ({ row, getValue }) => (
      <span className={getValue() < 0 ? "ps-warn" : undefined}>
        {say.inSyncOf(row.original.isr.length, row.original.replicas.length)}
      </span>
    ),
  }),
  column.accessor("log_start", {
    header: say.logStart,
    meta: { align: "right", hideBelow: "md" },
    cell: (cell) => formatInteger(cell.getValue()),
  }),
  column.accessor("log_end", {
    header: say.logEnd,
    meta: { align: "right" },
    cell: (cell) => formatInteger(cell.getValue()),
  }),
  column.accessor((row) => (row.log_end === null || row.log_start === null ? null : row.log_end - row.log_start), {
    id: "records",
    header: say.records,
    meta: { align: "right", hideBelow: "sm" },
    cell: (cell) => formatInteger(cell.getValue()),
  }),
  column.accessor("size_bytes", {
    header: say.size,
    meta: { align: "right", hideBelow: "sm" },
    cell: (cell) => (
      <Metered share={(cell.getValue() ?? 0) / Math.max(1, top)}>
        <Quantity of="bytes" value={cell.getValue()} />
      </Metered>
    ),
  }),
  column.display({
    id: "by_replica",
    header: say.sizeByReplica,
    meta: { hideBelow: "md" },
    cell: ({ row }) => <ReplicaSizes replicas={replicas.get(row.original.partition)?.replicas} />,
  }),
  column.accessor((row) => row.leader_epoch ?? null, {
    id: "epoch",
    header: say.epoch,
    meta: { align: "right", hideBelow: "md" },
    cell: (cell) => <span className="ps-muted">{formatInteger(cell.getValue())}</span>,
  }),
];

interface PartitionTableProps {
  clusterId: string;
  partitions: Partition[];
  /** By partition; what is not there is not known. */
  replicas: ReadonlyMap<number, PartitionReplicas>;
  onOpen: (partition: number) => void;
  view: TableView;
  onView: (view: TableView) => void;
}

export function PartitionTable({ clusterId, partitions, replicas, onOpen, view, onView }: PartitionTableProps) {
  const top = Math.max(0, ...partitions.map((row) => row.size_bytes ?? 0));
  return (
    <>
      {partitions.length > HEAT_MAP_FROM && <HeatMap partitions={partitions} onOpen={onOpen} />}
      <DataTable
        rows={partitions}
        columns={columns(clusterId, top, replicas, onOpen)}
        rowId={(row) => String(row.partition)}
        label={say.partitions}
        defaultSort="partition"
        view={view}
        onView={onView}
        empty={<Empty title={say.noPartitions} />}
      />
      <div className="ps-legend">
        <span className="ps-chip" data-kind="leader">
          {say.anyBroker}
        </span>{" "}
        {say.chipOfLeader}
        <span className="ps-chip">{say.anyBroker}</span> {say.chipInSync}
        <span className="ps-chip" data-kind="behind">
          {say.anyBroker}
        </span>{" "}
        {say.chipBehind}
      </div>
    </>
  );
}
