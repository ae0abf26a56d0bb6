import { ActionIcon, Menu } from "@mantine/core";
import { IconDots, IconRefresh, IconServerOff } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import { useState } from "react";
import { BrokerState } from "@/components/broker-state";
import { DataTable } from "@/components/data-table";
import { Metered } from "@/components/metered";
import { PlanFlow } from "@/components/plan-flow";
import { Quantity } from "@/components/quantity";
import { sparkColumn } from "@/components/spark-column";
import { formatInteger } from "@/lib/format";
import { useMayWrite } from "@/lib/permissions";
import type { Broker, BrokerLoad, Cluster } from "@/lib/types";
import { words } from "@/words/clusters";
import { words as scaling } from "@/words/scaling";
import { RemoveBroker } from "./scale-brokers";

const say = words.clusterPage;

type Row = Broker & Partial<Omit<BrokerLoad, "id">>;

const column = createColumnHelper<Row>();
const columns = (clusterId: string, controller: number | null, top: number) => [
  column.accessor("id", {
    header: say.broker,
    cell: (cell) => (
      <span style={{ whiteSpace: "nowrap" }}>
        <Link
          to="/clusters/$clusterId/brokers/$broker"
          params={{ clusterId, broker: String(cell.getValue()) }}
          className="ps-link ps-tnum"
          aria-label={say.broker2(cell.getValue())}
        >
          <strong>{cell.getValue()}</strong>
        </Link>
        {cell.getValue() === controller && <span className="ps-tag">{say.controller}</span>}
      </span>
    ),
  }),
  column.accessor((row) => (row.alive ? 0 : 1), {
    id: "state",
    header: say.state,
    cell: ({ row }) => <BrokerState broker={row.original} />,
  }),
  column.accessor((row) => row.rack ?? "", {
    id: "rack",
    header: say.rack,
    meta: { hideBelow: "sm" },
    cell: (cell) => cell.getValue() || <span className="ps-muted">–</span>,
  }),
  column.accessor((row) => `${row.host}:${row.port}`, {
    id: "address",
    header: say.address,
    meta: { hideBelow: "md" },
    cell: ({ row, getValue }) =>
      row.original.host ? <span className="ps-mono">{getValue()}</span> : <span className="ps-muted">–</span>,
  }),
  column.accessor((row) => row.leaders ?? null, {
    id: "leaders",
    header: say.leads,
    meta: { align: "right", hideBelow: "sm" },
    cell: (cell) => formatInteger(cell.getValue()),
  }),
  column.accessor((row) => row.replicas ?? null, {
    id: "replicas",
    header: say.replicas,
    meta: { align: "right", hideBelow: "sm" },
    cell: (cell) => formatInteger(cell.getValue()),
  }),
  column.accessor((row) => row.size_bytes ?? null, {
    id: "size",
    header: say.data,
    meta: { align: "right" },
    cell: (cell) => (
      <Metered share={(cell.getValue() ?? 0) / Math.max(1, top)}>
        <Quantity of="bytes" value={cell.getValue()} />
      </Metered>
    ),
  }),
  sparkColumn<Row>(clusterId, "broker", (row) => String(row.id)),
  column.accessor("restarts", {
    id: "restarts",
    header: say.restarts,
    meta: { align: "right", hideBelow: "md" },
    cell: (cell) => <span className={cell.getValue() > 0 ? "ps-warn" : "ps-muted"}>{cell.getValue()}</span>,
  }),
  column.accessor((row) => row.pid ?? null, {
    id: "pid",
    header: say.process,
    meta: { align: "right", hideBelow: "md" },
    cell: (cell) => <span className="ps-muted">{cell.getValue() ?? "–"}</span>,
  }),
];
const actions = (onRestart: (broker: number) => void, onRemove: (broker: number) => void) =>
  column.display({
    id: "actions",
    header: () => <span className="ps-sr">{say.actions}</span>,
    meta: { align: "right" },
    cell: ({ row }) => (
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon size="sm" aria-label={say.actionsForBroker(row.original.id)}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconRefresh size={15} />} onClick={() => onRestart(row.original.id)}>
            {say.restartBroker}
          </Menu.Item>
          <Menu.Item leftSection={<IconServerOff size={15} />} onClick={() => onRemove(row.original.id)}>
            {scaling.scaleBrokers.removeBroker}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    ),
  });

export function BrokerTable({ cluster, loads }: { cluster: Cluster; loads: BrokerLoad[] }) {
  const rows: Row[] = cluster.brokers.map((broker) => ({ ...loads.find((load) => load.id === broker.id), ...broker }));
  const top = Math.max(...rows.map((row) => row.size_bytes ?? 0), 0);
  const canWrite = useMayWrite()("cluster", cluster.id);
  const [restart, setRestart] = useState<number | null>(null);
  const [removal, setRemoval] = useState<number | null>(null);
  const known = columns(cluster.id, cluster.controller_id, top);
  const canRestart = cluster.kind === "managed" && canWrite;
  return (
    <>
      <DataTable
        rows={rows}
        columns={canRestart ? [...known, actions(setRestart, setRemoval)] : known}
        rowId={(row) => String(row.id)}
        label={say.brokers}
        defaultSort="id"
      />
      <PlanFlow
        request={
          restart === null ? null : { kind: "broker.restart", cluster_id: cluster.id, inputs: { broker: restart } }
        }
        title={say.restartBroker2(restart ?? "")}
        onClose={() => setRestart(null)}
      />
      <RemoveBroker cluster={cluster} broker={removal} onClose={() => setRemoval(null)} />
    </>
  );
}
