import { IconStack2 } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import { Breakable } from "@/components/breakable";
import { Card, PartView } from "@/components/card";
import { DataTable } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { Quantity } from "@/components/quantity";
import { formatInteger } from "@/lib/format";
import { usePage } from "@/lib/page";
import type { BrokerPlacement } from "@/lib/types";
import { words } from "@/words/brokers";

const say = words.placementTab;

type Row = BrokerPlacement["rows"][number];

/** Every topic is looked at for it: asked for less often than the page, ms. */
const PACE_MS = 30_000;

const column = createColumnHelper<Row>();
const bad = (count: number) => <span className={count > 0 ? "ps-bad" : "ps-muted"}>{formatInteger(count)}</span>;
const columns = (clusterId: string) => [
  column.accessor("topic", {
    header: say.topic,
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
    header: say.leads,
    meta: { align: "right" },
    cell: (cell) => formatInteger(cell.getValue()),
  }),
  column.accessor("follows", {
    header: say.follows,
    meta: { align: "right" },
    cell: (cell) => formatInteger(cell.getValue()),
  }),
  column.accessor("out_of_sync", {
    header: say.outOfSync,
    meta: { align: "right" },
    cell: (cell) => bad(cell.getValue()),
  }),
  column.accessor("offline", {
    header: say.offline,
    meta: { align: "right", hideBelow: "sm" },
    cell: (cell) => bad(cell.getValue()),
  }),
  column.accessor((row) => row.size_bytes ?? null, {
    id: "size",
    header: say.bytesLed,
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
      <Empty icon={<IconStack2 size={20} />} title={say.itHoldsNothing}>
        {say.noReplicaThatYouSee}
      </Empty>
    );
  return (
    <>
      <DataTable
        rows={found.rows}
        columns={columns(clusterId)}
        rowId={(row) => row.topic}
        label={say.topicsOnThisBroker}
      />
      <div className="ps-legend" style={{ flexWrap: "wrap" }}>
        <span>{say.leadsAndFollows(found.leads, found.follows, found.topics)}</span>
        {found.preferred_elsewhere > 0 && (
          <span className="ps-warn">{say.preferredElsewhere(found.preferred_elsewhere)}</span>
        )}
        {found.topics > found.rows.length && <span>{say.firstAreShown(found.rows.length)}</span>}
      </div>
    </>
  );
}
