import { createColumnHelper } from "@tanstack/react-table";
import { Amount } from "@/components/amount";
import { CostFigure } from "@/components/cost";
import { DataTable } from "@/components/data-table";
import { GroupLink } from "@/components/group-link";
import type { UsageRow } from "@/lib/insights";
import { words } from "@/words/insights";
import { TopicLink } from "./topic-link";

const say = words.usageTable;

const column = createColumnHelper<UsageRow>();

const figure = (id: "gib_hours" | "gib_in" | "gib_out", header: string, hideBelow?: "sm" | "md") =>
  column.accessor((row) => row[id] ?? -1, {
    id,
    header,
    meta: { align: "right", hideBelow },
    // A group holds and writes nothing, and groups do the reading: that is no gap in what is known.
    cell: ({ row: { original: row } }) =>
      row[id] === null && (row.group === null) === (id === "gib_out") ? (
        <span className="ps-muted">–</span>
      ) : (
        <Amount value={row[id]} unit={id === "gib_hours" ? say.gibH : say.gib} />
      ),
  });

/** What topics and groups used, and what it costs; without a price book nothing is said of cost. */
export function UsageTable({ rows, clusterId }: { rows: UsageRow[]; clusterId: string }) {
  const columns = [
    column.accessor("topic", {
      header: say.topic,
      cell: ({ getValue }) => <TopicLink clusterId={clusterId} topic={getValue()} />,
    }),
    column.accessor((row) => row.group ?? "", {
      id: "group",
      header: say.readBy,
      cell: ({ row }) =>
        row.original.group === null ? (
          <span className="ps-muted">{say.theTopicItself}</span>
        ) : (
          <GroupLink clusterId={clusterId} group={row.original.group} />
        ),
    }),
    figure("gib_hours", say.gibHAllCopies, "sm"),
    figure("gib_in", say.gibIn, "sm"),
    figure("gib_out", say.gibOut, "sm"),
    column.accessor((row) => (row.cost === null ? -1 : Number(row.cost)), {
      id: "cost",
      header: say.cost,
      meta: { align: "right" },
      cell: ({ row }) => <CostFigure row={row.original} />,
    }),
    column.accessor("hours", { header: say.hoursSeen, meta: { align: "right", hideBelow: "md" } }),
  ];
  return (
    <DataTable
      rows={rows}
      columns={columns}
      rowId={(row) => `${row.topic} ${row.group ?? ""}`}
      label={say.usage}
      defaultSort="-gib_hours"
      pageSize={20}
    />
  );
}
