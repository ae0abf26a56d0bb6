import { Link } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import { Metered } from "@/components/metered";
import { Breakable } from "@/components/breakable";
import { DataTable, type TableView } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { KeptFor, Quantity } from "@/components/quantity";
import { LagStatus } from "@/components/status";
import { type Expiry, endangered, lossExactly, lossIn } from "@/lib/lag";
import type { Retention, RetentionCounts, TopicRetention } from "@/lib/types";
import { words } from "@/words/analytics";

const say = words.retentionTable;

/** The group in the worst danger; without one, any that has unread records. */
const worst = (row: TopicRetention): Expiry | null =>
  endangered(row.groups)[0] ?? row.groups.find((group) => group.oldest_unread_expires_in_s !== null) ?? null;

const column = createColumnHelper<TopicRetention>();
const columns = (clusterId: string) => [
  column.accessor("topic", {
    header: say.topic,
    cell: (cell) => (
      <Link
        to="/clusters/$clusterId/topics/$topic"
        params={{ clusterId, topic: cell.getValue() }}
        className="ps-link ps-mono"
      >
        <Breakable text={cell.getValue()} />
      </Link>
    ),
  }),
  column.accessor((row) => row.bytes ?? -1, {
    id: "bytes",
    header: say.held,
    meta: { align: "right" },
    cell: ({ row }) => <Quantity of="bytes" value={row.original.bytes} />,
  }),
  column.accessor((row) => row.age_seconds ?? -1, {
    id: "age",
    header: say.oldestRecord,
    meta: { align: "right", hideBelow: "sm" },
    cell: ({ row: { original: topic } }) => <Age topic={topic} />,
  }),
  column.accessor((row) => row.retention_ms ?? -1, {
    id: "retention",
    header: say.keptFor,
    meta: { align: "right", hideBelow: "sm" },
    cell: ({ row }) => <KeptFor ms={row.original.retention_ms} none="–" />,
  }),
  column.accessor((row) => worst(row)?.first_loss_in_s ?? Number.POSITIVE_INFINITY, {
    id: "expiry",
    header: say.firstUnreadLoss,
    meta: { align: "right" },
    cell: ({ row }) => {
      const first = worst(row.original);
      if (!first) return <span className="ps-muted">{say.nothingUnread}</span>;
      return <span title={`${first.group}: ${lossExactly(first)}`}>{lossIn(first)}</span>;
    },
  }),
  column.accessor((row) => worst(row)?.status ?? "", {
    id: "risk",
    header: say.risk,
    meta: { hideBelow: "sm" },
    cell: ({ row }) => {
      const first = worst(row.original);
      return first ? <LagStatus status={first.status} /> : <span className="ps-muted">–</span>;
    },
  }),
];

/** Age of the oldest record against the time limit. */
function Age({ topic }: { topic: TopicRetention }) {
  if (topic.age_seconds === null) return <span className="ps-muted">–</span>;
  const share =
    topic.retention_ms && topic.retention_ms > 0 ? Math.min(1, (topic.age_seconds * 1000) / topic.retention_ms) : 0;
  return (
    <Metered share={share}>
      <Quantity of="span" value={topic.age_seconds} />
    </Metered>
  );
}

/** The server's orders, which are the columns. */
export const RETENTION_SORTS = ["topic", "bytes", "age", "retention", "expiry", "risk"] as const;

interface RetentionTableProps {
  gold: Retention;
  counts: RetentionCounts | null | undefined;
  clusterId: string;
  view: TableView;
  onView: (view: TableView) => void;
}

export function RetentionTable({ gold, counts, clusterId, view, onView }: RetentionTableProps) {
  return (
    <DataTable
      rows={gold.data}
      paged={counts ?? undefined}
      view={view}
      onView={onView}
      columns={columns(clusterId)}
      rowId={(row) => row.topic}
      label={say.retentionByTopic}
      defaultSort="-bytes"
      empty={<Empty title={say.noTopicHasBeenMeasured}>{say.theNextRunReadsLog}</Empty>}
    />
  );
}
