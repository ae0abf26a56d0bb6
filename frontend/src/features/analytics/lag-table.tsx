import { createColumnHelper } from "@tanstack/react-table";
import { DataTable, type TableView } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { GroupLink } from "@/components/group-link";
import { Quantity } from "@/components/quantity";
import { LagStatus } from "@/components/status";
import { formatInteger } from "@/lib/format";
import { unread } from "@/lib/lag";
import { exactly } from "@/lib/quantities";
import type { Lag, LagCounts, LagPoint } from "@/lib/types";
import { words } from "@/words/analytics";

const say = words.lagTable;

const METHODS: Record<string, string> = {
  exact: say.fromTheUnreadRecordsOwn,
  interpolated: say.interpolatedBetweenSamples,
  caught_up: say.nothingUnread,
  out_of_history: say.olderThanTheSampledHistory,
  no_commit: say.noCommittedOffset,
};

const column = createColumnHelper<LagPoint>();
const columns = (clusterId: string) => [
  column.accessor("group", {
    header: say.group,
    cell: (cell) => <GroupLink clusterId={clusterId} group={cell.getValue()} />,
  }),
  column.accessor("topic", {
    header: say.topic,
    meta: { hideBelow: "sm" },
    cell: (cell) => <span className="ps-mono">{cell.getValue()}</span>,
  }),
  column.accessor("status", {
    header: say.state,
    cell: ({ row }) => <LagStatus status={row.original.status} reasons={row.original.reasons} />,
  }),
  column.accessor((row) => (row.lag_records ?? -1) + (row.uncommitted_records ?? 0), {
    id: "records",
    header: say.lag,
    meta: { align: "right" },
    cell: ({ row }) => unread(row.original),
  }),
  column.accessor((row) => row.lag_seconds ?? row.lag_seconds_at_least ?? -1, {
    id: "seconds",
    header: say.behindBy,
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
    header: say.trend,
    meta: { align: "right", hideBelow: "sm" },
    cell: ({ row: { original: point } }) => <Trend point={point} />,
  }),
  column.accessor((row) => row.eta_seconds ?? Number.POSITIVE_INFINITY, {
    id: "eta",
    header: say.caughtUpIn,
    meta: { align: "right", hideBelow: "md" },
    cell: ({ row }) => <Quantity of="span" value={row.original.eta_seconds || null} />,
  }),
];

function Trend({ point }: { point: LagPoint }) {
  const rate = point.trend_records_per_s;
  if (rate === null || rate === undefined) return <span className="ps-muted">{point.trend ?? "–"}</span>;
  if (Math.abs(rate) < 0.05) return <span className="ps-muted">{say.n0S}</span>;
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

/** The server's orders, which are the columns. */
export const LAG_SORTS = ["group", "topic", "status", "records", "seconds", "trend", "eta"] as const;

interface LagTableProps {
  gold: Lag;
  counts: LagCounts | null | undefined;
  clusterId: string;
  view: TableView;
  onView: (view: TableView) => void;
}

export function LagTable({ gold, counts, clusterId, view, onView }: LagTableProps) {
  return (
    <DataTable
      rows={gold.data}
      paged={counts ?? undefined}
      view={view}
      onView={onView}
      columns={columns(clusterId)}
      rowId={(row) => JSON.stringify([row.group, row.topic])}
      label={say.lagByGroupAndTopic}
      defaultSort="-records"
      empty={<Empty title={say.noGroupHasBeenFollowed}>{say.aGroupAppearsAfterIt}</Empty>}
    />
  );
}
