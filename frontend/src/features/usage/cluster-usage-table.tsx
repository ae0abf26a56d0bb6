import { Link } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import { Amount } from "@/components/amount";
import { CostFigure } from "@/components/cost";
import { DataTable } from "@/components/data-table";
import { Quantity } from "@/components/quantity";
import { RelTime } from "@/components/rel-time";
import { formatInteger } from "@/lib/format";
import type { TenantUsageRow } from "@/lib/insights";

const column = createColumnHelper<TenantUsageRow>();

const amount = (id: "gib_hours" | "gib_in" | "gib_out", header: string, unit: string, hideBelow?: "sm" | "md") =>
  column.accessor((row) => row[id] ?? -1, {
    id,
    header,
    meta: { align: "right", hideBelow },
    cell: ({ row }) => <Amount value={row.original[id]} unit={unit} />,
  });

/** Nothing is counted of a cluster of which no hour is known. */
const count = (id: "topics" | "groups", header: string) =>
  column.accessor((row) => (row.as_of_ms === null ? -1 : row[id]), {
    id,
    header,
    meta: { align: "right", hideBelow: "sm" },
    cell: ({ row: { original: row } }) =>
      row.as_of_ms === null ? <span className="ps-muted">not known</span> : formatInteger(row[id]),
  });

const columns = [
  column.accessor((row) => row.cluster ?? "", {
    id: "cluster",
    header: "Cluster",
    cell: ({ row: { original: row }, getValue }) => (
      <Link to="/clusters/$clusterId/usage" params={{ clusterId: row.cluster_id ?? "" }} className="ps-link">
        {getValue()}
      </Link>
    ),
  }),
  count("topics", "Topics"),
  count("groups", "Groups"),
  amount("gib_hours", "GiB·h, all copies", "GiB·h"),
  amount("gib_in", "GiB in", "GiB", "sm"),
  amount("gib_out", "GiB out", "GiB", "sm"),
  column.accessor((row) => Number(row.cost ?? row.cost_at_least ?? -1), {
    id: "cost",
    header: "Cost",
    sortDescFirst: true,
    meta: { align: "right" },
    cell: ({ row }) => <CostFigure row={row.original} />,
  }),
  column.accessor("unknown_parts", {
    header: "Not known",
    meta: { align: "right", hideBelow: "md" },
    cell: ({ getValue }) =>
      getValue() === 0 ? (
        <span className="ps-muted">nothing</span>
      ) : (
        <span className="ps-warn">{formatInteger(getValue())} parts</span>
      ),
  }),
  column.accessor((row) => row.as_of_ms ?? -1, {
    id: "as_of",
    header: "As of",
    meta: { hideBelow: "md" },
    cell: ({ row: { original: row } }) => (
      <>
        <RelTime at={row.as_of_ms} fallback="not known yet" />
        {row.seen_share !== null && (
          <span className={row.seen_share < 0.9 ? "ps-warn" : "ps-muted"}>
            , <Quantity of="share" value={row.seen_share} /> seen
          </span>
        )}
      </>
    ),
  }),
];

/** One line a cluster; its name leads to its topics and groups. */
export function ClusterUsageTable({ rows }: { rows: TenantUsageRow[] }) {
  return (
    <DataTable
      rows={rows}
      columns={columns}
      rowId={(row) => row.cluster_id ?? ""}
      label="Usage by cluster"
      defaultSort="-cost"
      pageSize={50}
    />
  );
}
