import { createColumnHelper } from "@tanstack/react-table";
import { DataTable } from "@/components/data-table";
import { Quantity } from "@/components/quantity";
import { RelTime } from "@/components/rel-time";
import { Status, type Tone } from "@/components/status";
import { formatInteger } from "@/lib/format";
import type { HotRow, SilentRow, UnusedRow } from "@/lib/insights";
import { words } from "@/words/insights";
import { TopicLink } from "./topic-link";

const say = words.topicTables;

type Verdict = HotRow["verdict"] | SilentRow["verdict"] | UnusedRow["verdict"];

const VERDICTS: Record<Verdict, [tone: Tone, label: string, rank: number]> = {
  hot: ["warn", say.hot, 0],
  silent: ["bad", say.silent, 0],
  unused: ["warn", say.unused, 0],
  unknown: ["muted", say.notKnown, 1],
  even: ["ok", say.even, 2],
  producing: ["ok", say.producing, 2],
  in_use: ["ok", say.inUse, 2],
};

const NOT_KNOWN = <span className="ps-muted">{say.notKnown2}</span>;
const share = (value: number | null) => <Quantity of="share" value={value} none={NOT_KNOWN} />;
const count = (value: number | null) => (value === null ? NOT_KNOWN : formatInteger(Math.round(value)));

function verdictAndTopic<Row extends { topic: string; verdict: Verdict }>(clusterId: string) {
  const column = createColumnHelper<Row>();
  return [
    column.accessor((row) => row.topic, {
      id: "topic",
      header: say.topic,
      cell: ({ row }) => <TopicLink clusterId={clusterId} topic={row.original.topic} />,
    }),
    column.accessor((row) => VERDICTS[row.verdict][2], {
      id: "verdict",
      header: say.judged,
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
      header: say.busiestPartition,
      meta: { align: "right" },
      cell: ({ row: { original: row } }) =>
        row.busiest_share === null ? (
          NOT_KNOWN
        ) : (
          <>
            <Quantity of="share" value={row.busiest_share} />{" "}
            <span className="ps-muted">{say.on(row.busiest_partition)}</span>
          </>
        ),
    }),
    hot.accessor("fair_share", {
      header: say.evenShare,
      meta: { align: "right", hideBelow: "sm" },
      cell: ({ getValue }) => share(getValue()),
    }),
    hot.accessor("records_in", {
      header: say.recordsIn,
      meta: { align: "right", hideBelow: "sm" },
      cell: ({ getValue }) => count(getValue()),
    }),
  ];
  return (
    <DataTable
      rows={rows}
      columns={columns}
      rowId={(row) => row.topic}
      label={say.hotPartitions}
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
      header: say.ofTheUsual,
      meta: { align: "right" },
      cell: ({ row }) => share(row.original.share_of_usual),
    }),
    silent.accessor((row) => row.records ?? -1, {
      id: "records",
      header: say.recordsInTheHour,
      meta: { align: "right", hideBelow: "sm" },
      cell: ({ row }) => count(row.original.records),
    }),
    silent.accessor((row) => row.usual_records ?? -1, {
      id: "usual",
      header: say.usually,
      meta: { align: "right", hideBelow: "sm" },
      cell: ({ row }) => count(row.original.usual_records),
    }),
    silent.accessor((row) => row.last_write_ms ?? -1, {
      id: "written",
      header: say.lastWrite,
      meta: { hideBelow: "md" },
      cell: ({ row }) => <RelTime at={row.original.last_write_ms} fallback={say.notKnown2} />,
    }),
  ];
  return (
    <DataTable
      rows={rows}
      columns={columns}
      rowId={(row) => row.topic}
      label={say.silentProducers}
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
      header: say.lastWrite,
      meta: { hideBelow: "sm" },
      cell: ({ row }) => <RelTime at={row.original.last_write_ms} fallback={say.noneSeen} />,
    }),
    unused.accessor((row) => row.last_read_ms ?? -1, {
      id: "read",
      header: say.lastRead,
      meta: { hideBelow: "sm" },
      cell: ({ row }) => <RelTime at={row.original.last_read_ms} fallback={say.noneSeen} />,
    }),
    unused.accessor("groups", { header: say.groups, meta: { align: "right", hideBelow: "md" } }),
    unused.accessor((row) => row.bytes_last ?? -1, {
      id: "held",
      header: say.held,
      meta: { align: "right" },
      cell: ({ row }) => <Quantity of="bytes" value={row.original.bytes_last} none={NOT_KNOWN} />,
    }),
    unused.accessor("observed_since_ms", {
      header: say.watchedSince,
      meta: { hideBelow: "md" },
      cell: ({ row: { original: row } }) => (
        <>
          <RelTime at={row.observed_since_ms} />
          <span className="ps-muted">{say.seen(<Quantity of="share" value={row.seen_share} />)}</span>
        </>
      ),
    }),
  ];
  return (
    <DataTable
      rows={rows}
      columns={columns}
      rowId={(row) => row.topic}
      label={say.unusedTopics}
      defaultSort="verdict"
      pageSize={10}
    />
  );
}
