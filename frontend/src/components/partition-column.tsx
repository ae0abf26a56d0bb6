import type { ColumnDef } from "@tanstack/react-table";
import type { ReactNode } from "react";
import { words } from "@/words/late-parts";

const say = words.partitionColumn;

interface OfPartition {
  topic: string;
  partition: number;
}

export const partitionId = ({ topic, partition }: OfPartition) => `${topic}-${partition}`;

/** The column that names a row's partition, sorted by topic and number; either may be drawn in its own way. */
export function partitionColumn<Row extends OfPartition>(
  topicOf: (row: Row) => ReactNode = (row) => row.topic,
  numberOf: (row: Row) => ReactNode = (row) => row.partition,
): ColumnDef<Row, string> {
  return {
    id: "partition",
    header: say.partition,
    accessorFn: (row) => `${row.topic}-${String(row.partition).padStart(6, "0")}`,
    cell: ({ row }) => (
      <span className="ps-mono">
        {topicOf(row.original)}-{numberOf(row.original)}
      </span>
    ),
  };
}
