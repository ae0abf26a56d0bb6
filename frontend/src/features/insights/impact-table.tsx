import { createColumnHelper } from "@tanstack/react-table";
import { DataTable } from "@/components/data-table";
import { GroupLink } from "@/components/group-link";
import { Quantity } from "@/components/quantity";
import { RelTime } from "@/components/rel-time";
import { Status, type Tone } from "@/components/status";
import { formatInteger } from "@/lib/format";
import type { ImpactRow } from "@/lib/insights";
import { wordOf } from "@/lib/word-of";
import { words } from "@/words/insights";
import { TopicLink } from "./topic-link";

const say = words.impactTable;

const VERDICTS: Record<ImpactRow["verdict"], [tone: Tone, label: string, rank: number]> = {
  rose: ["warn", say.rose, 0],
  fell: ["warn", say.fell, 1],
  unknown: ["muted", say.notKnown, 2],
  steady: ["ok", say.steady, 3],
};
const NOT_KNOWN = <span className="ps-muted">{say.notKnown2}</span>;

/** A figure in the unit that its column's name ends with, or that it begins with. */
function inUnit(measure: string, value: number | null) {
  if (value === null) return NOT_KNOWN;
  if (measure.includes("seconds")) return <Quantity of="span" value={value} />;
  if (measure.includes("bytes")) return <Quantity of="bytes" value={value} />;
  return <span title={say.of(value, wordOf(say.measures, measure))}>{formatInteger(Math.round(value))}</span>;
}

function change(row: ImpactRow) {
  if (row.change_share === null) return NOT_KNOWN;
  return (
    <>
      {row.change_share > 0 && "+"}
      <Quantity of="share" value={row.change_share} />
    </>
  );
}

const column = createColumnHelper<ImpactRow>();

/** Each measure of what an operation was about, in the hours before it and after it; what moved first. */
export function ImpactTable({ rows, clusterId }: { rows: ImpactRow[]; clusterId: string }) {
  const columns = [
    column.accessor("end_ms", {
      header: say.change,
      cell: ({ row: { original: row } }) => (
        <>
          <span className="ps-mono">{row.action}</span> <RelTime at={row.end_ms} />
          {row.others > 0 && <span className="ps-warn"> {say.moreInTheseHours(row.others)}</span>}
        </>
      ),
    }),
    column.accessor((row) => row.group ?? row.topic ?? "", {
      id: "about",
      header: say.ofWord,
      meta: { hideBelow: "sm" },
      cell: ({ row: { original: row } }) => {
        if (row.group !== null) return <GroupLink clusterId={clusterId} group={row.group} />;
        if (row.topic !== null) return <TopicLink clusterId={clusterId} topic={row.topic} />;
        return say.theCluster;
      },
    }),
    column.accessor("measure", { header: say.measure, cell: ({ getValue }) => wordOf(say.measures, getValue()) }),
    column.accessor((row) => VERDICTS[row.verdict][2], {
      id: "verdict",
      header: say.judged,
      cell: ({ row }) => {
        const [tone, label] = VERDICTS[row.original.verdict];
        return <Status tone={tone} label={label} />;
      },
    }),
    column.accessor((row) => row.before ?? -1, {
      id: "before",
      header: say.before,
      meta: { align: "right", hideBelow: "md" },
      cell: ({ row: { original: row } }) => inUnit(row.measure, row.before),
    }),
    column.accessor((row) => row.after ?? -1, {
      id: "after",
      header: say.after,
      meta: { align: "right" },
      cell: ({ row: { original: row } }) => inUnit(row.measure, row.after),
    }),
    column.accessor((row) => row.change_share ?? 0, {
      id: "change",
      header: say.by,
      meta: { align: "right" },
      cell: ({ row }) => change(row.original),
    }),
    column.accessor("hours_after", {
      header: say.hoursSeen,
      meta: { align: "right", hideBelow: "md" },
      cell: ({ row: { original: row } }) => say.andOf(row.hours_before, row.hours_after, row.hours_asked),
    }),
  ];
  return (
    <DataTable
      rows={rows}
      columns={columns}
      rowId={(row) => JSON.stringify([row.event_id, row.topic, row.group, row.measure])}
      label={say.changeImpact}
      defaultSort="verdict"
      pageSize={10}
    />
  );
}
