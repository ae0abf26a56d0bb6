import { IconStack2 } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import { Breakable } from "@/components/breakable";
import { Card, PartView } from "@/components/card";
import { DataTable } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { Quantity } from "@/components/quantity";
import { formatInteger, plural } from "@/lib/format";
import { usePage } from "@/lib/page";
import type { BrokerPlacement } from "@/lib/types";

type Row = BrokerPlacement["rows"][number];

/** Every topic is looked at for it: asked for less often than the page, ms. */
const PACE_MS = 30_000;

const column = createColumnHelper<Row>();
const bad = (count: number) => <span className={count > 0 ? "ps-bad" : "ps-muted"}>{formatInteger(count)}</span>;
const columns = (clusterId: string) => [
  column.accessor("topic", {
    header: "Topic",
    cell: (cell) => (
      <Link
        to="/clusters/$clusterId/topics/$topic"
        params={{ clusterId, topic: cell.getValue() }}
        className="ps-link ps-mono"
      >
        <Breakable text={cell.getValue()} />
      </Link>
    ),
  }),
  column.accessor("leads", {
    header: "Leads",
    meta: { align: "right" },
    cell: (cell) => formatInteger(cell.getValue()),
  }),
  column.accessor("follows", {
    header: "Follows",
    meta: { align: "right" },
    cell: (cell) => formatInteger(cell.getValue()),
  }),
  column.accessor("out_of_sync", {
    header: "Out of sync",
    meta: { align: "right" },
    cell: (cell) => bad(cell.getValue()),
  }),
  column.accessor("offline", {
    header: "Offline",
    meta: { align: "right", hideBelow: "sm" },
    cell: (cell) => bad(cell.getValue()),
  }),
  column.accessor((row) => row.size_bytes ?? null, {
    id: "size",
    header: "Bytes led",
    meta: { align: "right", hideBelow: "sm" },
    cell: (cell) => <Quantity of="bytes" value={cell.getValue()} />,
  }),
];

/** What the broker leads and holds, by topic; those in trouble first. */
export function PlacementTab({ clusterId, broker }: { clusterId: string; broker: string }) {
  const query = usePage("placement/{cluster_id}/{broker_id}", { cluster_id: clusterId, broker_id: broker }, PACE_MS);
  return (
    <Card>
      <PartView query={query} name="partitions" rows={7}>
        {(found) => <Placement found={found} clusterId={clusterId} />}
      </PartView>
    </Card>
  );
}

function Placement({ found, clusterId }: { found: BrokerPlacement; clusterId: string }) {
  if (found.topics === 0)
    return (
      <Empty icon={<IconStack2 size={20} />} title="It holds nothing">
        No partition that you see has a replica on this broker.
      </Empty>
    );
  return (
    <>
      <DataTable
        rows={found.rows}
        columns={columns(clusterId)}
        rowId={(row) => row.topic}
        label="Topics on this broker"
      />
      <div className="ps-legend" style={{ flexWrap: "wrap" }}>
        <span>
          Leads {plural(found.leads, "partition")}, follows {formatInteger(found.follows)}, of{" "}
          {plural(found.topics, "topic")}.
        </span>
        {found.preferred_elsewhere > 0 && (
          <span className="ps-warn">
            {plural(found.preferred_elsewhere, "partition")} it is preferred for{" "}
            {found.preferred_elsewhere === 1 ? "has" : "have"} another leader.
          </span>
        )}
        {found.topics > found.rows.length && (
          <span>The first {formatInteger(found.rows.length)} are shown, those in trouble before the others.</span>
        )}
      </div>
    </>
  );
}
