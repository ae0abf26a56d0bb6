import { createColumnHelper } from "@tanstack/react-table";
import { formatInteger } from "@/lib/format";
import type { OffsetDiffData } from "@/lib/types";
import { words } from "@/words/diffs";
import { Stats } from "../stats";
import { PartitionDiff } from "./partition-diff";

const say = words.offsetDiff;

type OffsetMove = OffsetDiffData["partitions"][number];

const column = createColumnHelper<OffsetMove>();
const columns = [
  column.accessor("from", {
    header: say.from,
    meta: { align: "right" },
    cell: (cell) => formatInteger(cell.getValue()),
  }),
  column.accessor("to", {
    header: say.to,
    meta: { align: "right" },
    cell: (cell) => <strong>{formatInteger(cell.getValue())}</strong>,
  }),
  column.accessor((row) => signed(row), {
    id: "records",
    header: say.records,
    meta: { align: "right" },
    cell: ({ row }) => <Effect row={row.original} />,
  }),
  column.accessor((row) => row.reason, {
    id: "reason",
    header: say.whyThisOffset,
    meta: { hideBelow: "sm" },
    cell: (cell) => <span className="ps-muted">{cell.getValue()}</span>,
  }),
];

const signed = ({ effect, records }: OffsetMove) =>
  effect === "reread" ? -(records ?? 0) : effect === "skip" ? (records ?? 0) : 0;

function Effect({ row }: { row: OffsetMove }) {
  if (row.effect === "reread") return <span className="ps-run">{say.readAgain(formatInteger(row.records))}</span>;
  if (row.effect === "first") return <span>{say.readFromHereOn(formatInteger(row.records))}</span>;
  if (row.effect === "skip") return <span className="ps-bad">{say.skipped(formatInteger(row.records))}</span>;
  if (row.effect === "removed") return <span className="ps-bad">{say.commitRemovedAutoOffsetReset}</span>;
  if (row.effect === "unknown") return <span className="ps-warn">{say.unknownNoLeader}</span>;
  return <span className="ps-muted">{say.noChange}</span>;
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
          { label: say.partitionsMoved, value: say.ofWord(moved, diff.partitions.length) },
          {
            label: say.recordsReadAgain,
            value: formatInteger(total("reread")),
            tone: total("reread") > 0 ? "run" : undefined,
          },
          {
            label: say.recordsSkipped,
            value: formatInteger(total("skip")),
            tone: total("skip") > 0 ? "bad" : undefined,
          },
        ]}
      />
      <PartitionDiff rows={diff.partitions} columns={columns} label={say.offsetsBeforeAndAfter} />
    </>
  );
}
