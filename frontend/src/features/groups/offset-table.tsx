import { Link } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import { DataTable, type TableView } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { Metered } from "@/components/metered";
import { partitionColumn, partitionId } from "@/components/partition-column";
import { formatDuration, formatInteger } from "@/lib/format";
import { exactly } from "@/lib/quantities";
import type { GroupOffset } from "@/lib/types";
import { words } from "@/words/groups";
import { ConsumedCell } from "./consumed-cell";
import { etaOf, formatRate } from "./pace";
import { UnreadOfPartition } from "./unread";

const say = words.offsetTable;

const offset = createColumnHelper<GroupOffset>();
const NOBODY = <span className="ps-muted">{say.nobody}</span>;

const columns = (clusterId: string, group: string, top: number, hasMembers: boolean) => [
  partitionColumn<GroupOffset>(
    ({ topic }) => (
      <Link to="/clusters/$clusterId/topics/$topic" params={{ clusterId, topic }} className="ps-link">
        {topic}
      </Link>
    ),
    ({ topic, partition }) => (
      <Link
        to="/clusters/$clusterId/topics/$topic"
        params={{ clusterId, topic }}
        search={{ partition }}
        className="ps-link"
        title={say.whatOpensThere}
      >
        {partition}
      </Link>
    ),
  ),
  ...(hasMembers
    ? [
        offset.accessor((row) => row.owner?.client_id ?? "", {
          id: "owner",
          header: say.owner,
          meta: { hideBelow: "sm" as const },
          cell: ({ row }) => <Owner owner={row.original.owner} />,
        }),
      ]
    : []),
  offset.accessor((row) => row.committed ?? -1, {
    id: "committed",
    header: say.committed,
    meta: { align: "right", hideBelow: "sm" },
    cell: ({ row }) =>
      row.original.committed === null ? (
        <span className="ps-muted">{say.none}</span>
      ) : (
        formatInteger(row.original.committed)
      ),
  }),
  offset.accessor("log_end", {
    header: say.logEnd,
    meta: { align: "right", hideBelow: "md" },
    cell: ({ row }) => (
      <span title={say.logBeginsAt(formatInteger(row.original.log_start))}>{formatInteger(row.original.log_end)}</span>
    ),
  }),
  offset.accessor((row) => row.unread_at_most ?? -1, {
    id: "lag",
    header: say.lag,
    meta: { align: "right" },
    cell: ({ row }) => (
      <Metered share={Math.max(0, row.original.lag ?? 0) / Math.max(1, top)}>
        <UnreadOfPartition row={row.original} />
      </Metered>
    ),
  }),
  offset.accessor((row) => row.lag_s ?? row.lag_s_at_least ?? -1, {
    id: "seconds",
    header: say.behindBy,
    meta: { align: "right" },
    cell: ({ row }) => <Behind row={row.original} />,
  }),
  offset.accessor((row) => row.produce_records_per_s ?? -1, {
    id: "produced",
    header: say.produced,
    meta: { align: "right", hideBelow: "md" },
    cell: ({ row }) => <Rate value={row.original.produce_records_per_s} />,
  }),
  offset.accessor((row) => row.consume_records_per_s ?? -1, {
    id: "consumed",
    header: say.consumed,
    meta: { align: "right", hideBelow: "md" },
    cell: ({ row }) => <Rate value={row.original.consume_records_per_s} />,
  }),
  offset.display({
    id: "consumed-hour",
    header: say.consumedLastHour,
    meta: { align: "right", hideBelow: "md" },
    cell: ({ row }) => <ConsumedCell clusterId={clusterId} group={group} {...row.original} />,
  }),
  offset.accessor((row) => row.eta_s ?? Number.MAX_VALUE, {
    id: "eta",
    header: say.caughtUpIn,
    meta: { align: "right", hideBelow: "sm" },
    cell: ({ row }) => <CaughtUp row={row.original} />,
  }),
];

function Owner({ owner }: { owner: GroupOffset["owner"] }) {
  if (owner === null) return NOBODY;
  return (
    <span title={say.member(owner.member_id)}>
      {owner.client_id} <span className="ps-mono ps-muted">{owner.host.replace(/^\//, "")}</span>
    </span>
  );
}

function Rate({ value }: { value: number | null }) {
  if (value === null) return <span className="ps-muted">–</span>;
  return <span title={exactly("recordRate", value)}>{formatRate(value)}</span>;
}

/** Time lag; a lower bound is shown as one, and a standstill said. */
function Behind({ row }: { row: GroupOffset }) {
  const isStuck = row.stuck_s !== null && (row.lag ?? 0) > 0 && row.stuck_s >= 300;
  const hint = isStuck ? say.stoodStillFor(formatDuration(row.stuck_s)) : undefined;
  if (row.lag_s !== null) {
    return (
      <span
        title={[exactly("span", row.lag_s), hint].filter(Boolean).join("; ")}
        className={isStuck ? "ps-bad" : undefined}
      >
        {formatDuration(row.lag_s)}
      </span>
    );
  }
  if (row.lag_s_at_least)
    return (
      <span title={[say.atLeast(exactly("span", row.lag_s_at_least)), hint].filter(Boolean).join("; ")}>
        ≥ {formatDuration(row.lag_s_at_least)}
      </span>
    );
  return <span className="ps-muted">–</span>;
}

function CaughtUp({ row }: { row: GroupOffset }) {
  const eta = etaOf(row);
  return (
    <span title={eta.hint} className={eta.tone === "warn" ? "ps-warn" : eta.text === "–" ? "ps-muted" : undefined}>
      {eta.text}
    </span>
  );
}

interface OffsetTableProps {
  clusterId: string;
  group: string;
  rows: GroupOffset[];
  hasMembers: boolean;
  view: TableView;
  onView: (view: TableView) => void;
}

/** Where a group stands in each partition of the topics that it uses. */
export function OffsetTable({ clusterId, group, rows, hasMembers, view, onView }: OffsetTableProps) {
  const top = Math.max(0, ...rows.map((row) => row.lag ?? 0));
  return (
    <DataTable
      rows={rows}
      columns={columns(clusterId, group, top, hasMembers)}
      rowId={partitionId}
      label={say.offsets}
      defaultSort="partition"
      view={view}
      onView={onView}
      empty={<Empty title={say.noCommittedOffsets}>{say.notCommittedOrExpired}</Empty>}
    />
  );
}
