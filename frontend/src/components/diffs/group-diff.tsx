import { createColumnHelper } from "@tanstack/react-table";
import { formatInteger } from "@/lib/format";
import type { GroupDeletionDiffData } from "@/lib/types";
import { words } from "@/words/diffs";
import { Stats } from "../stats";
import { PartitionDiff } from "./partition-diff";

const say = words.groupDiff;

type Vanishing = GroupDeletionDiffData["offsets"][number];

const column = createColumnHelper<Vanishing>();
const columns = [
  column.accessor("committed", {
    header: say.offsetThatIsForgotten,
    meta: { align: "right" },
    cell: (cell) => <span className="ps-diff-del">{formatInteger(cell.getValue())}</span>,
  }),
  column.accessor((row) => row.lag ?? -1, {
    id: "lag",
    header: say.lag,
    meta: { align: "right" },
    cell: ({ row }) =>
      row.original.lag === null ? <span className="ps-muted">{say.notKnown}</span> : formatInteger(row.original.lag),
  }),
  column.accessor((row) => (row.restorable ? "" : say.thePartitionIsGone), {
    id: "undo",
    header: say.whatUndoDoes,
    meta: { hideBelow: "sm" },
    cell: (cell) => <span className="ps-muted">{cell.getValue() || say.commitsItAgain}</span>,
  }),
];

/** What is forgotten with a group: its place in every partition, and how much it has not read. */
export function GroupDiff({ diff }: { diff: GroupDeletionDiffData }) {
  const { before, offsets } = diff;
  return (
    <>
      <Stats
        items={[
          { label: say.state, value: before.state },
          { label: say.members, value: formatInteger(before.members) },
          {
            label: say.lag,
            value: before.lag === null ? say.notKnown : formatInteger(before.lag),
            tone: before.lag === 0 ? undefined : "bad",
          },
        ]}
      />
      {offsets.length > 0 && <PartitionDiff rows={offsets} columns={columns} label={say.offsetsThatAreForgotten} />}
    </>
  );
}
