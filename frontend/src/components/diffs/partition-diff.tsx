import type { ColumnDef } from "@tanstack/react-table";
import { DataTable } from "../data-table";
import { partitionColumn, partitionId } from "../partition-column";

/** Rows of a plan shown at a time; the rest is a page further. */
const PAGE_SIZE = 12;

interface PartitionDiffProps<Row> {
  rows: Row[];
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- TanStack's own type for a mixed list of columns
  columns: ColumnDef<Row, any>[];
  label: string;
}

/** What a plan does partition by partition: each one's name, then the plan's own columns. */
export function PartitionDiff<Row extends { topic: string; partition: number }>({
  rows,
  columns,
  label,
}: PartitionDiffProps<Row>) {
  return (
    <div className="ps-card">
      <DataTable
        rows={rows}
        columns={[partitionColumn<Row>(), ...columns]}
        rowId={partitionId}
        label={label}
        pageSize={PAGE_SIZE}
      />
    </div>
  );
}
