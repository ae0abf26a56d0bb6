import { createColumnHelper } from "@tanstack/react-table";
import { formatInteger } from "@/lib/format";
import type { OffsetDiffData } from "@/lib/types";
import { Stats } from "../stats";
import { PartitionDiff } from "./partition-diff";

type OffsetMove = OffsetDiffData["partitions"][number];

const column = createColumnHelper<OffsetMove>();
const columns = [
  column.accessor("from", { header: "From", meta: { align: "right" }, cell: (cell) => formatInteger(cell.getValue()) }),
  column.accessor("to", {
    header: "To",
    meta: { align: "right" },
    cell: (cell) => <strong>{formatInteger(cell.getValue())}</strong>,
  }),
  column.accessor((row) => signed(row), {
    id: "records",
    header: "Records",
    meta: { align: "right" },
    cell: ({ row }) => <Effect row={row.original} />,
  }),
  column.accessor((row) => row.reason, {
    id: "reason",
    header: "Why this offset",
    meta: { hideBelow: "sm" },
    cell: (cell) => <span className="ps-muted">{cell.getValue()}</span>,
  }),
];

const signed = ({ effect, records }: OffsetMove) =>
  effect === "reread" ? -(records ?? 0) : effect === "skip" ? (records ?? 0) : 0;

function Effect({ row }: { row: OffsetMove }) {
  if (row.effect === "reread") return <span className="ps-run">{formatInteger(row.records)} read again</span>;
  if (row.effect === "first") return <span>{formatInteger(row.records)} read from here on</span>;
  if (row.effect === "skip") return <span className="ps-bad">{formatInteger(row.records)} skipped</span>;
  if (row.effect === "removed") return <span className="ps-bad">commit removed: auto.offset.reset decides</span>;
  if (row.effect === "unknown") return <span className="ps-warn">unknown: no leader</span>;
  return <span className="ps-muted">no change</span>;
}

/** From and to per partition, with how many records are read again or never read. */
export function OffsetDiff({ diff }: { diff: OffsetDiffData }) {
  const total = (effect: string) =>
    diff.partitions.filter((row) => row.effect === effect).reduce((sum, row) => sum + (row.records ?? 0), 0);
  const moved = diff.partitions.filter((row) => row.effect !== "none" && row.effect !== "unknown").length;
  return (
    <>
      <Stats
        items={[
          { label: "Partitions moved", value: `${moved} of ${diff.partitions.length}` },
          {
            label: "Records read again",
            value: formatInteger(total("reread")),
            tone: total("reread") > 0 ? "run" : undefined,
          },
          {
            label: "Records skipped",
            value: formatInteger(total("skip")),
            tone: total("skip") > 0 ? "bad" : undefined,
          },
        ]}
      />
      <PartitionDiff rows={diff.partitions} columns={columns} label="Offsets before and after" />
    </>
  );
}
