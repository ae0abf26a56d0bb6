import { createColumnHelper } from "@tanstack/react-table";
import { formatBytes, formatInteger } from "@/lib/format";
import type { EmptyDiffData } from "@/lib/types";
import { Stats } from "../stats";
import { PartitionDiff } from "./partition-diff";

type Emptied = EmptyDiffData["partitions"][number];

const column = createColumnHelper<Emptied>();
const columns = [
  column.accessor("log_start", {
    header: "Begins now at",
    meta: { align: "right", hideBelow: "sm" },
    cell: (cell) => formatInteger(cell.getValue()),
  }),
  column.accessor("until", {
    header: "Begins then at",
    meta: { align: "right" },
    cell: (cell) => <strong>{formatInteger(cell.getValue())}</strong>,
  }),
  column.accessor("records", {
    header: "Records deleted",
    meta: { align: "right" },
    cell: (cell) =>
      cell.getValue() > 0 ? (
        <span className="ps-bad">{formatInteger(cell.getValue())}</span>
      ) : (
        <span className="ps-muted">none</span>
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
          { label: "Records deleted", value: formatInteger(records), tone: "bad" },
          {
            label: "Data deleted, at most",
            value: bytes === null ? "not known" : formatBytes(bytes),
            title: bytes === null ? undefined : `${formatInteger(bytes)} bytes`,
            note: "leaders' copies",
          },
          { label: "Partitions", value: formatInteger(diff.partitions.filter((row) => row.records > 0).length) },
        ]}
      />
      <PartitionDiff rows={diff.partitions} columns={columns} label="Where the logs begin" />
    </>
  );
}
