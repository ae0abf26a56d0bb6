import { createColumnHelper } from "@tanstack/react-table";
import { formatBytes, formatInteger } from "@/lib/format";
import type { EmptyDiffData } from "@/lib/types";
import { words } from "@/words/diffs";
import { Stats } from "../stats";
import { PartitionDiff } from "./partition-diff";

const say = words.emptyDiff;

type Emptied = EmptyDiffData["partitions"][number];

const column = createColumnHelper<Emptied>();
const columns = [
  column.accessor("log_start", {
    header: say.beginsNowAt,
    meta: { align: "right", hideBelow: "sm" },
    cell: (cell) => formatInteger(cell.getValue()),
  }),
  column.accessor("until", {
    header: say.beginsThenAt,
    meta: { align: "right" },
    cell: (cell) => <strong>{formatInteger(cell.getValue())}</strong>,
  }),
  column.accessor("records", {
    header: say.recordsDeleted,
    meta: { align: "right" },
    cell: (cell) =>
      cell.getValue() > 0 ? (
        <span className="ps-bad">{formatInteger(cell.getValue())}</span>
      ) : (
        <span className="ps-muted">{say.none}</span>
      ),
  }),
];

/** What goes when a topic is emptied: the records before an offset of each partition. */
export function EmptyDiff({ diff }: { diff: EmptyDiffData }) {
  const { records, bytes } = diff.before;
  return (
    <>
      <Stats
        items={[
          { label: say.recordsDeleted, value: formatInteger(records), tone: "bad" },
          {
            label: say.dataDeletedAtMost,
            value: bytes === null ? say.notKnown : formatBytes(bytes),
            title: bytes === null ? undefined : say.bytes(bytes),
            note: say.leadersCopies,
          },
          { label: say.partitions, value: formatInteger(diff.partitions.filter((row) => row.records > 0).length) },
        ]}
      />
      <PartitionDiff rows={diff.partitions} columns={columns} label={say.whereTheLogsBegin} />
    </>
  );
}
