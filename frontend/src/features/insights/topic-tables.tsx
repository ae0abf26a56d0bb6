import { createColumnHelper } from "@tanstack/react-table";
import { DataTable } from "@/components/data-table";
import { Quantity } from "@/components/quantity";
import { RelTime } from "@/components/rel-time";
import { Status, type Tone } from "@/components/status";
import { formatInteger } from "@/lib/format";
import type { HotRow, SilentRow, UnusedRow } from "@/lib/insights";
import { TopicLink } from "./topic-link";

type Verdict = HotRow["verdict"] | SilentRow["verdict"] | UnusedRow["verdict"];

const VERDICTS: Record<Verdict, [tone: Tone, label: string, rank: number]> = {
  hot: ["warn", "Hot", 0],
  silent: ["bad", "Silent", 0],
  unused: ["warn", "Unused", 0],
  unknown: ["muted", "Not known", 1],
  even: ["ok", "Even", 2],
  producing: ["ok", "Producing", 2],
  in_use: ["ok", "In use", 2],
};

const NOT_KNOWN = <span className="ps-muted">not known</span>;
const share = (value: number | null) => <Quantity of="share" value={value} none={NOT_KNOWN} />;
const count = (value: number | null) => (value === null ? NOT_KNOWN : formatInteger(Math.round(value)));

function verdictAndTopic<Row extends { topic: string; verdict: Verdict }>(clusterId: string) {
  const column = createColumnHelper<Row>();
  return [
    column.accessor((row) => row.topic, {
      id: "topic",
      header: "Topic",
      cell: ({ row }) => <TopicLink clusterId={clusterId} topic={row.original.topic} />,
    }),
    column.accessor((row) => VERDICTS[row.verdict][2], {
      id: "verdict",
      header: "Judged",
      cell: ({ row }) => {
        const [tone, label] = VERDICTS[row.original.verdict];
        return <Status tone={tone} label={label} />;
      },
    }),
  ];
}

interface TableProps<Row> {
  rows: Row[];
  clusterId: string;
}

const hot = createColumnHelper<HotRow>();

/** Topics of which one partition takes more than its share, worst first. */
export function HotTable({ rows, clusterId }: TableProps<HotRow>) {
  const columns = [
    ...verdictAndTopic<HotRow>(clusterId),
    hot.accessor((row) => row.busiest_share ?? -1, {
      id: "share",
      header: "Busiest partition",
      meta: { align: "right" },
      cell: ({ row: { original: row } }) =>
        row.busiest_share === null ? (
          NOT_KNOWN
        ) : (
          <>
            <Quantity of="share" value={row.busiest_share} />{" "}
            <span className="ps-muted">on {row.busiest_partition}</span>
          </>
        ),
    }),
    hot.accessor("fair_share", {
      header: "Even share",
      meta: { align: "right", hideBelow: "sm" },
      cell: ({ getValue }) => share(getValue()),
    }),
    hot.accessor("records_in", {
      header: "Records in",
      meta: { align: "right", hideBelow: "sm" },
      cell: ({ getValue }) => count(getValue()),
    }),
  ];
  return (
    <DataTable
      rows={rows}
      columns={columns}
      rowId={(row) => row.topic}
      label="Hot partitions"
      defaultSort="verdict"
      pageSize={10}
    />
  );
}

const silent = createColumnHelper<SilentRow>();

/** Topics that get far less than they do at this hour of the day, worst first. */
export function SilentTable({ rows, clusterId }: TableProps<SilentRow>) {
  const columns = [
    ...verdictAndTopic<SilentRow>(clusterId),
    silent.accessor((row) => row.share_of_usual ?? -1, {
      id: "share",
      header: "Of the usual",
      meta: { align: "right" },
      cell: ({ row }) => share(row.original.share_of_usual),
    }),
    silent.accessor((row) => row.records ?? -1, {
      id: "records",
      header: "Records in the hour",
      meta: { align: "right", hideBelow: "sm" },
      cell: ({ row }) => count(row.original.records),
    }),
    silent.accessor((row) => row.usual_records ?? -1, {
      id: "usual",
      header: "Usually",
      meta: { align: "right", hideBelow: "sm" },
      cell: ({ row }) => count(row.original.usual_records),
    }),
    silent.accessor((row) => row.last_write_ms ?? -1, {
      id: "written",
      header: "Last write",
      meta: { hideBelow: "md" },
      cell: ({ row }) => <RelTime at={row.original.last_write_ms} fallback="not known" />,
    }),
  ];
  return (
    <DataTable
      rows={rows}
      columns={columns}
      rowId={(row) => row.topic}
      label="Silent producers"
      defaultSort="verdict"
      pageSize={10}
    />
  );
}

const unused = createColumnHelper<UnusedRow>();

/** Topics that nobody writes or reads, with the evidence. */
export function UnusedTable({ rows, clusterId }: TableProps<UnusedRow>) {
  const columns = [
    ...verdictAndTopic<UnusedRow>(clusterId),
    unused.accessor((row) => row.last_write_ms ?? -1, {
      id: "written",
      header: "Last write",
      meta: { hideBelow: "sm" },
      cell: ({ row }) => <RelTime at={row.original.last_write_ms} fallback="none seen" />,
    }),
    unused.accessor((row) => row.last_read_ms ?? -1, {
      id: "read",
      header: "Last read",
      meta: { hideBelow: "sm" },
      cell: ({ row }) => <RelTime at={row.original.last_read_ms} fallback="none seen" />,
    }),
    unused.accessor("groups", { header: "Groups", meta: { align: "right", hideBelow: "md" } }),
    unused.accessor((row) => row.bytes_last ?? -1, {
      id: "held",
      header: "Held",
      meta: { align: "right" },
      cell: ({ row }) => <Quantity of="bytes" value={row.original.bytes_last} none={NOT_KNOWN} />,
    }),
    unused.accessor("observed_since_ms", {
      header: "Watched since",
      meta: { hideBelow: "md" },
      cell: ({ row: { original: row } }) => (
        <>
          <RelTime at={row.observed_since_ms} />
          <span className="ps-muted">
            , <Quantity of="share" value={row.seen_share} /> seen
          </span>
        </>
      ),
    }),
  ];
  return (
    <DataTable
      rows={rows}
      columns={columns}
      rowId={(row) => row.topic}
      label="Unused topics"
      defaultSort="verdict"
      pageSize={10}
    />
  );
}
