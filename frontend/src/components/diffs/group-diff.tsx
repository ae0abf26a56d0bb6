import { createColumnHelper } from "@tanstack/react-table";
import { formatInteger } from "@/lib/format";
import type { GroupDeletionDiffData } from "@/lib/types";
import { Stats } from "../stats";
import { PartitionDiff } from "./partition-diff";

type Vanishing = GroupDeletionDiffData["offsets"][number];

const column = createColumnHelper<Vanishing>();
const columns = [
  column.accessor("committed", {
    header: "Offset that is forgotten",
    meta: { align: "right" },
    cell: (cell) => <span className="ps-diff-del">{formatInteger(cell.getValue())}</span>,
  }),
  column.accessor((row) => row.lag ?? -1, {
    id: "lag",
    header: "Lag",
    meta: { align: "right" },
    cell: ({ row }) =>
      row.original.lag === null ? <span className="ps-muted">not known</span> : formatInteger(row.original.lag),
  }),
  column.accessor((row) => (row.restorable ? "" : "the partition is gone"), {
    id: "undo",
    header: "What undo does",
    meta: { hideBelow: "sm" },
    cell: (cell) => <span className="ps-muted">{cell.getValue() || "commits it again"}</span>,
  }),
];

/** What is forgotten with a group: its place in every partition, and how much it has not read. */
export function GroupDiff({ diff }: { diff: GroupDeletionDiffData }) {
  const { before, offsets } = diff;
  return (
    <>
      <Stats
        items={[
          { label: "State", value: before.state },
          { label: "Members", value: formatInteger(before.members) },
          {
            label: "Lag",
            value: before.lag === null ? "not known" : formatInteger(before.lag),
            tone: before.lag === 0 ? undefined : "bad",
          },
        ]}
      />
      {offsets.length > 0 && <PartitionDiff rows={offsets} columns={columns} label="Offsets that are forgotten" />}
    </>
  );
}
