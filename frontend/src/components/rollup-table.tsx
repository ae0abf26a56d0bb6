import { createColumnHelper } from "@tanstack/react-table";
import { toDate } from "@/lib/format";
import type { ClusterRollup, GroupRollup, TopicRollup } from "@/lib/insights";
import type { Measure } from "@/lib/quantities";
import { formatShare } from "@/lib/shares";
import { words } from "@/words/charts";
import { DataTable } from "./data-table";
import { Quantity } from "./quantity";

const say = words.rollupTable;

const NOT_KNOWN = <span className="ps-muted">{say.notKnown}</span>;

const figure = (value: number | null, of: Measure) => <Quantity of={of} value={value} none={NOT_KNOWN} />;

type Period = Pick<GroupRollup, "ts" | "samples" | "expected">;

/** "21 Nov, 10:00" in one's own time; of days the date. */
export function periodWords(ts: string, periodS: number): string {
  const date = toDate(ts);
  if (date === null) return ts;
  // A day of UTC is no day of ours: it is named as UTC has it.
  if (periodS >= 86_400) {
    return date.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
  }
  return date.toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
}

/** Of the period's windows how many were sampled. */
const seen = ({ samples, expected }: Period) => (expected > 0 ? samples / expected : null);

function frame<Row extends Period>(periodS: number) {
  const column = createColumnHelper<Row>();
  return {
    column,
    when: column.accessor((row) => row.ts, {
      id: "ts",
      header: periodS >= 86_400 ? say.dayUtc : say.hour,
      cell: ({ row }) => (
        <time dateTime={row.original.ts} title={row.original.ts} style={{ whiteSpace: "nowrap" }}>
          {periodWords(row.original.ts, periodS)}
        </time>
      ),
    }),
    coverage: column.accessor((row) => seen(row) ?? -1, {
      id: "seen",
      header: say.seen,
      meta: { align: "right" },
      cell: ({ row: { original: row } }) => {
        const share = seen(row);
        return (
          <span
            className={share !== null && share < 0.9 ? "ps-warn" : undefined}
            title={say.ofWindows(row.samples, row.expected)}
          >
            {share === null ? say.notKnown : formatShare(share)}
          </span>
        );
      },
    }),
  };
}

interface RollupTableProps<Row> {
  rows: Row[];
  periodS: number;
}

const PAGE_SIZE = 12;

/** A group's hours or days: percentiles of how late it was, the partition that was worst, what was lost. */
export function GroupRollupTable({ rows, periodS }: RollupTableProps<GroupRollup>) {
  const { column, when, coverage } = frame<GroupRollup>(periodS);
  const late = (id: "lag_seconds_p50" | "lag_seconds_p95" | "lag_seconds_p99" | "lag_seconds_max", header: string) =>
    column.accessor((row) => row[id] ?? -1, {
      id,
      header,
      meta: { align: "right", hideBelow: id === "lag_seconds_p95" ? undefined : "md" },
      cell: ({ row }) => figure(row.original[id], "span"),
    });
  const columns = [
    when,
    column.accessor("topic", { header: say.topic, meta: { hideBelow: "sm" } }),
    late("lag_seconds_p50", say.behindP50),
    late("lag_seconds_p95", say.behindP95),
    late("lag_seconds_p99", say.behindP99),
    late("lag_seconds_max", say.atMost),
    column.accessor((row) => row.lag_records_max ?? -1, {
      id: "lag_records_max",
      header: say.lagAtMost,
      meta: { align: "right", hideBelow: "sm" },
      cell: ({ row }) => figure(row.original.lag_records_max, "records"),
    }),
    column.accessor((row) => row.worst_partition_lag_records ?? -1, {
      id: "worst",
      header: say.worstPartition,
      meta: { align: "right", hideBelow: "sm" },
      cell: ({ row: { original: row } }) =>
        row.worst_partition === null ? (
          NOT_KNOWN
        ) : (
          <>
            {row.worst_partition}
            <span className="ps-muted">
              {row.worst_partition_lag_records === null
                ? say.lagNotKnown
                : say.behind(<Quantity of="records" value={row.worst_partition_lag_records} />)}
            </span>
          </>
        ),
    }),
    column.accessor((row) => row.lost_records ?? -1, {
      id: "lost",
      header: say.lost,
      meta: { align: "right", hideBelow: "md" },
      cell: ({ row: { original: row } }) => (
        <span className={row.lost_records ? "ps-bad" : undefined}>{figure(row.lost_records, "records")}</span>
      ),
    }),
    coverage,
  ];
  return (
    <DataTable
      rows={rows}
      columns={columns}
      rowId={(row) => `${row.topic} ${row.ts}`}
      label={say.groupByHoursAndDays}
      defaultSort="-ts"
      pageSize={PAGE_SIZE}
    />
  );
}

/** A topic's hours or days: what it held and got, and how even its partitions were. */
export function TopicRollupTable({ rows, periodS }: RollupTableProps<TopicRollup>) {
  const { column, when, coverage } = frame<TopicRollup>(periodS);
  const columns = [
    when,
    ...heldColumns<TopicRollup>(),
    column.accessor((row) => row.busiest_share ?? -1, {
      id: "busiest",
      header: say.busiestPartition,
      meta: { align: "right", hideBelow: "sm" },
      cell: ({ row: { original: row } }) =>
        row.busiest_partition === null || row.busiest_share === null ? (
          NOT_KNOWN
        ) : (
          <>
            {row.busiest_partition}
            <span className="ps-muted">{say.ofTheRecords(<Quantity of="share" value={row.busiest_share} />)}</span>
          </>
        ),
    }),
    coverage,
  ];
  return (
    <DataTable
      rows={rows}
      columns={columns}
      rowId={(row) => row.ts}
      label={say.topicByHoursAndDays}
      defaultSort="-ts"
      pageSize={PAGE_SIZE}
    />
  );
}

/** A cluster's hours or days as a whole. */
export function ClusterRollupTable({ rows, periodS }: RollupTableProps<ClusterRollup>) {
  const { column, when, coverage } = frame<ClusterRollup>(periodS);
  const columns = [
    when,
    ...heldColumns<ClusterRollup>(),
    column.accessor((row) => row.lag_seconds_p95 ?? -1, {
      id: "p95",
      header: say.behindP95,
      meta: { align: "right", hideBelow: "md" },
      cell: ({ row }) => figure(row.original.lag_seconds_p95, "span"),
    }),
    column.accessor((row) => row.lost_records ?? -1, {
      id: "lost",
      header: say.lostUnread,
      meta: { align: "right", hideBelow: "md" },
      cell: ({ row: { original: row } }) => (
        <span className={row.lost_records ? "ps-bad" : undefined}>{figure(row.lost_records, "records")}</span>
      ),
    }),
    coverage,
  ];
  return (
    <DataTable
      rows={rows}
      columns={columns}
      rowId={(row) => row.ts}
      label={say.clusterByHoursAndDays}
      defaultSort="-ts"
      pageSize={PAGE_SIZE}
    />
  );
}

type Held = Pick<TopicRollup, "bytes_avg" | "bytes_max" | "bytes_in" | "records_in">;

function heldColumns<Row extends Held>() {
  const column = createColumnHelper<Row>();
  const measure = (id: keyof Held, header: string, of: Measure, hideBelow?: "sm" | "md") =>
    column.accessor((row) => row[id] ?? -1, {
      id,
      header,
      meta: { align: "right", hideBelow },
      cell: ({ row }) => figure(row.original[id], of),
    });
  return [
    measure("bytes_avg", say.heldOneCopy, "bytes"),
    measure("bytes_max", say.atMost, "bytes", "md"),
    measure("bytes_in", say.written, "bytes", "sm"),
    measure("records_in", say.recordsIn, "records", "sm"),
  ];
}
