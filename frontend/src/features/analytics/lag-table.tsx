import { createColumnHelper } from "@tanstack/react-table";
import { DataTable } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { GroupLink } from "@/components/group-link";
import { Quantity } from "@/components/quantity";
import { LagStatus } from "@/components/status";
import { formatInteger } from "@/lib/format";
import { newest, unread } from "@/lib/lag";
import { exactly } from "@/lib/quantities";
import type { Lag, LagPoint } from "@/lib/types";

const METHODS: Record<string, string> = {
  exact: "from the unread record's own time",
  interpolated: "interpolated between samples",
  caught_up: "nothing unread",
  out_of_history: "older than the sampled history",
  no_commit: "no committed offset",
};

const column = createColumnHelper<LagPoint>();
const columns = (clusterId: string) => [
  column.accessor("group", {
    header: "Group",
    cell: (cell) => <GroupLink clusterId={clusterId} group={cell.getValue()} />,
  }),
  column.accessor("topic", {
    header: "Topic",
    meta: { hideBelow: "sm" },
    cell: (cell) => <span className="ps-mono">{cell.getValue()}</span>,
  }),
  column.accessor("status", {
    header: "State",
    cell: ({ row }) => <LagStatus status={row.original.status} reasons={row.original.reasons} />,
  }),
  column.accessor((row) => (row.lag_records ?? -1) + (row.uncommitted_records ?? 0), {
    id: "records",
    header: "Lag",
    meta: { align: "right" },
    cell: ({ row }) => unread(row.original),
  }),
  column.accessor((row) => row.lag_seconds ?? row.lag_seconds_at_least ?? -1, {
    id: "seconds",
    header: "Behind by",
    meta: { align: "right" },
    cell: ({ row: { original: point } }) => (
      <>
        {point.lag_seconds === null && point.lag_seconds_at_least ? "≥ " : ""}
        <Quantity
          of="span"
          value={point.lag_seconds ?? (point.lag_seconds_at_least || null)}
          note={METHODS[point.method ?? ""]}
          none="–"
        />
      </>
    ),
  }),
  column.accessor((row) => row.trend_records_per_s ?? 0, {
    id: "trend",
    header: "Trend",
    meta: { align: "right", hideBelow: "sm" },
    cell: ({ row: { original: point } }) => <Trend point={point} />,
  }),
  column.accessor((row) => row.eta_seconds ?? Number.POSITIVE_INFINITY, {
    id: "eta",
    header: "Caught up in",
    meta: { align: "right", hideBelow: "md" },
    cell: ({ row }) => <Quantity of="span" value={row.original.eta_seconds || null} />,
  }),
];

function Trend({ point }: { point: LagPoint }) {
  const rate = point.trend_records_per_s;
  if (rate === null || rate === undefined) return <span className="ps-muted">{point.trend ?? "–"}</span>;
  if (Math.abs(rate) < 0.05) return <span className="ps-muted">0/s</span>;
  const text = `${rate > 0 ? "+" : rate < 0 ? "−" : ""}${Math.abs(rate) < 10 ? Math.abs(rate).toFixed(1) : formatInteger(Math.abs(rate))}/s`;
  return (
    <span
      title={exactly("recordRate", rate)}
      className={point.trend === "growing" ? "ps-warn" : point.trend === "shrinking" ? "ps-ok" : "ps-muted"}
    >
      {text}
    </span>
  );
}

export function LagTable({ gold, clusterId }: { gold: Lag; clusterId: string }) {
  return (
    <DataTable
      rows={newest(gold.data)}
      columns={columns(clusterId)}
      rowId={(row) => JSON.stringify([row.group, row.topic])}
      label="Lag by group and topic"
      defaultSort="-records"
      empty={
        <Empty title="No group has been followed yet">
          A group appears after it has committed offsets and a run has seen them.
        </Empty>
      }
    />
  );
}
