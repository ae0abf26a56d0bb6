import { Link } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import { Amount } from "@/components/amount";
import { CostFigure } from "@/components/cost";
import { DataTable } from "@/components/data-table";
import { Quantity } from "@/components/quantity";
import { RelTime } from "@/components/rel-time";
import { formatInteger } from "@/lib/format";
import type { TenantUsageRow } from "@/lib/insights";
import { words } from "@/words/usage";

const say = words.clusterUsageTable;

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
      row.as_of_ms === null ? <span className="ps-muted">{say.notKnown}</span> : formatInteger(row[id]),
  });

const columns = [
  column.accessor((row) => row.cluster ?? "", {
    id: "cluster",
    header: say.cluster,
    cell: ({ row: { original: row }, getValue }) => (
      <Link to="/clusters/$clusterId/usage" params={{ clusterId: row.cluster_id ?? "" }} className="ps-link">
        {getValue()}
      </Link>
    ),
  }),
  count("topics", say.topics),
  count("groups", say.groups),
  amount("gib_hours", say.gibHAllCopies, say.gibH),
  amount("gib_in", say.gibIn, say.gib, "sm"),
  amount("gib_out", say.gibOut, say.gib, "sm"),
  column.accessor((row) => Number(row.cost ?? row.cost_at_least ?? -1), {
    id: "cost",
    header: say.cost,
    sortDescFirst: true,
    meta: { align: "right" },
    cell: ({ row }) => <CostFigure row={row.original} />,
  }),
  column.accessor("unknown_parts", {
    header: say.notKnown2,
    meta: { align: "right", hideBelow: "md" },
    cell: ({ getValue }) =>
      getValue() === 0 ? (
        <span className="ps-muted">{say.nothing}</span>
      ) : (
        <span className="ps-warn">{say.parts(getValue())}</span>
      ),
  }),
  column.accessor((row) => row.as_of_ms ?? -1, {
    id: "as_of",
    header: say.asOf,
    meta: { hideBelow: "md" },
    cell: ({ row: { original: row } }) => (
      <>
        <RelTime at={row.as_of_ms} fallback={say.notKnownYet} />
        {row.seen_share !== null && (
          <span className={row.seen_share < 0.9 ? "ps-warn" : "ps-muted"}>
            {say.seen(<Quantity of="share" value={row.seen_share} />)}
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
      label={say.usageByCluster}
      defaultSort="-cost"
      pageSize={50}
    />
  );
}
