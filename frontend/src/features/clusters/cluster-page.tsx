import { ActionIcon, Button, Menu } from "@mantine/core";
import { IconBook2, IconCrown, IconDots, IconKey, IconRefresh } from "@tabler/icons-react";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import { useState } from "react";
import { BrokerLink, BrokerLinks } from "@/components/broker-link";
import { Metered } from "@/components/metered";
import { ButtonLink } from "@/components/button-link";
import { BrokerState } from "@/components/broker-state";
import { Card, PartView } from "@/components/card";
import { Copy } from "@/components/copy";
import { DataTable } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { EventList } from "@/components/event-list";
import { DeleteItem, MoreMenu } from "@/components/more-menu";
import { Notice } from "@/components/notice";
import { OperationList } from "@/components/operation-list";
import { BytesMoved } from "@/components/move-progress";
import { PageHeader } from "@/components/page-header";
import { PlanFlow } from "@/components/plan-flow";
import { Quantity } from "@/components/quantity";
import { Refused } from "@/components/refused";
import { RelTime } from "@/components/rel-time";
import { Assignment } from "@/components/replicas";
import { type Stat, Stats, StatsSkeleton } from "@/components/stats";
import { sparkColumn } from "@/components/spark-column";
import { PhaseStatus } from "@/components/status";
import { ThroughputCard } from "@/components/throughput-card";
import { formatInteger } from "@/lib/format";
import { kindLabel } from "@/lib/kinds";
import { usePage } from "@/lib/page";
import { isRefusal } from "@/lib/problem";
import { useMayWrite } from "@/lib/permissions";
import type { ActiveReassignments, Broker, BrokerLoad, Cluster, ClusterSummary, PlanRequest } from "@/lib/types";
import { useCluster } from "@/lib/use-clusters";
import { words } from "@/words/clusters";
import { AttentionList } from "./attention-list";
import { ConnectCard } from "./connect-card";
import { CutBound } from "./cut-bound";

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
const actions = (onRestart: (broker: number) => void) =>
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
        </Menu.Dropdown>
      </Menu>
    ),
  });

function figures(cluster: Cluster, summary: ClusterSummary | null): Stat[] {
  const alive = cluster.brokers.filter((broker) => broker.alive).length;
  const isUnknown = cluster.unknown_because !== null;
  const bad = summary ? summary.offline + summary.under_replicated : 0;
  return [
    {
      label: say.brokersAlive,
      value: isUnknown && !cluster.brokers.length ? "unknown" : say.ofWord(alive, cluster.brokers.length),
      tone: isUnknown || alive < cluster.brokers.length ? "warn" : undefined,
      note: cluster.unknown_because ?? undefined,
    },
    {
      label: say.controller2,
      value: isUnknown ? (
        "unknown"
      ) : cluster.controller_id === null ? (
        "none"
      ) : (
        <BrokerLink clusterId={cluster.id} id={cluster.controller_id} />
      ),
      tone: isUnknown ? "warn" : cluster.controller_id === null ? "bad" : undefined,
    },
    {
      label: say.topics,
      value: formatInteger(summary?.topics),
      note: summary ? say.partitions(summary.partitions) : undefined,
    },
    {
      label: say.partitionsInTrouble,
      value: formatInteger(summary ? bad : null),
      tone: summary && summary.offline > 0 ? "bad" : bad > 0 ? "warn" : undefined,
      note: summary
        ? bad > 0
          ? say.offlineUnderReplicated(summary.offline, summary.under_replicated)
          : say.allInSync
        : undefined,
    },
    { label: say.dataOnDisk, value: <Quantity of="bytes" value={summary?.size_bytes} isKey />, note: say.allReplicas },
  ];
}

function Moves({ rows, clusterId }: { rows: ActiveReassignments["rows"]; clusterId: string }) {
  return (
    <table className="ps-table" aria-label={say.partitionsOnTheMove}>
      <tbody>
        {rows.map((row) => (
          <tr key={`${row.topic}-${row.partition}`}>
            <td className="ps-mono">
              {row.topic}-{row.partition}
            </td>
            <td>
              <Assignment
                ids={row.replicas}
                other={row.replicas.filter((id) => !row.adding.includes(id))}
                mark="added"
              />
            </td>
            <td className="ps-muted">
              {row.removing.length > 0 && say.leaves(<BrokerLinks clusterId={clusterId} ids={row.removing} />)}
            </td>
            <td>
              <BytesMoved moved={row.bytes_moved} total={row.bytes_to_move} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ActionsProps {
  cluster: Cluster;
  /** What is planned here: while it is shown, the page stays, also when the cluster is gone. */
  request: PlanRequest | null;
  onRequest: (request: PlanRequest | null) => void;
}

function Actions({ cluster, request, onRequest }: ActionsProps) {
  const navigate = useNavigate();
  return (
    <>
      <ButtonLink to="/clusters/$clusterId/new-topic" params={{ clusterId: cluster.id }}>
        {say.newTopic}
      </ButtonLink>
      <MoreMenu>
        <Menu.Item
          leftSection={<IconCrown size={15} />}
          onClick={() => onRequest({ kind: "leaders.elect", cluster_id: cluster.id, inputs: {} })}
        >
          {say.electPreferredLeaders}
        </Menu.Item>
        {cluster.kind === "registered" && (
          <Menu.Item
            leftSection={<IconKey size={15} />}
            onClick={() => void navigate({ to: "/clusters/$clusterId/credentials", params: { clusterId: cluster.id } })}
          >
            {say.changeTheWayIn}
          </Menu.Item>
        )}
        <Menu.Item
          leftSection={<IconBook2 size={15} />}
          onClick={() =>
            void navigate({ to: "/clusters/$clusterId/schema-registry", params: { clusterId: cluster.id } })
          }
        >
          {say.schemaRegistry}
        </Menu.Item>
        <DeleteItem onClick={() => onRequest({ kind: "cluster.delete", cluster_id: cluster.id, inputs: {} })}>
          {cluster.kind === "managed" ? say.deleteCluster : say.forgetCluster}
        </DeleteItem>
      </MoreMenu>
      <PlanFlow
        request={request}
        title={request ? `${kindLabel(request.kind)}: ${cluster.name}` : ""}
        onClose={() => onRequest(null)}
        leave={
          request?.kind === "cluster.delete"
            ? { label: say.backToTheOverview, go: () => void navigate({ to: "/" }) }
            : undefined
        }
      />
    </>
  );
}

export function ClusterPage() {
  const { clusterId } = useParams({ from: "/app/clusters/$clusterId" });
  const query = usePage("cluster/{cluster_id}", { cluster_id: clusterId });
  const canWrite = useMayWrite()("cluster", clusterId);
  const parts = query.data?.parts;
  const cluster = parts?.cluster.data;
  const attention = parts?.attention.data ?? [];
  const known = useCluster(clusterId);
  const { range } = useSearch({ from: "/app/clusters/$clusterId" });
  const navigate = useNavigate({ from: "/clusters/$clusterId" });
  const [request, setRequest] = useState<PlanRequest | null>(null);
  if (isRefusal(query) && request === null) return <Refused error={query.error} />;
  return (
    <>
      <PageHeader
        title={cluster?.name ?? known?.name ?? say.cluster}
        seen={query.data?.parts.summary}
        mark={cluster && <PhaseStatus phase={cluster.phase} />}
        sub={
          cluster && (
            <>
              {say.created(
                <span className="ps-mono">{cluster.bootstrap_servers}</span>,
                <Copy value={cluster.bootstrap_servers} label={say.copyBootstrapServers} />,
                <RelTime at={cluster.created_at} />,
              )}
            </>
          )
        }
        actions={cluster && canWrite && <Actions cluster={cluster} request={request} onRequest={setRequest} />}
      />
      <div className="ps-stack">
        {parts?.attention.status === "unavailable" && (
          <Notice tone="warn">{say.whatNeedsAttentionHereCould(parts.attention.reason)}</Notice>
        )}
        {attention.length > 0 && <AttentionList items={attention} clusterId={clusterId} />}
        {cluster ? <Stats items={figures(cluster, parts.summary.data)} /> : query.isPending && <StatsSkeleton />}
        <Card title={say.brokers} aside={cluster && <RestartAll cluster={cluster} />}>
          <PartView query={query} name="cluster">
            {(found) => (
              <>
                <BrokerTable cluster={found} loads={parts?.loads.data ?? []} />
                <CutBound cluster={found} />
              </>
            )}
          </PartView>
        </Card>
        <ThroughputCard
          clusterId={clusterId}
          subject={{ of: "cluster" }}
          range={range}
          onRange={(chosen) => void navigate({ search: { range: chosen }, replace: true })}
        />
        {parts?.reassignments.data && parts.reassignments.data.total > 0 && (
          <Card title={say.partitionsOnThe2(parts.reassignments.data.total)}>
            <Moves clusterId={clusterId} rows={parts.reassignments.data.rows} />
          </Card>
        )}
        <Card
          title={say.events}
          aside={
            <Link
              to="/clusters/$clusterId/events"
              params={{ clusterId }}
              className="ps-link"
              style={{ fontSize: "0.8125rem" }}
            >
              {say.allEvents}
            </Link>
          }
        >
          <PartView query={query} name="events">
            {(rows) => (rows.length > 0 ? <EventList events={rows} /> : <Empty title={say.nothingHappenedLately} />)}
          </PartView>
        </Card>
        <div className="ps-cols-1-1">
          <Card title={say.connectAClient} padded>
            <PartView query={query} name="client_config">
              {(config) => <ConnectCard config={config} clusterId={clusterId} />}
            </PartView>
          </Card>
          <Card title={say.recentOperations}>
            <PartView query={query} name="operations">
              {(rows) => <OperationList operations={rows.slice(0, 8)} compact />}
            </PartView>
          </Card>
        </div>
      </div>
    </>
  );
}

/** Only what this service runs can be restarted by it. */
function RestartAll({ cluster }: { cluster: Cluster }) {
  const canWrite = useMayWrite()("cluster", cluster.id);
  const [isAsked, setAsked] = useState(false);
  if (cluster.kind !== "managed" || !canWrite) return null;
  return (
    <>
      <Button variant="default" size="xs" leftSection={<IconRefresh size={15} />} onClick={() => setAsked(true)}>
        {say.restartAll}
      </Button>
      <PlanFlow
        request={isAsked ? { kind: "cluster.restart", cluster_id: cluster.id, inputs: {} } : null}
        title={`${kindLabel("cluster.restart")}: ${cluster.name}`}
        onClose={() => setAsked(false)}
      />
    </>
  );
}

function BrokerTable({ cluster, loads }: { cluster: Cluster; loads: BrokerLoad[] }) {
  const rows: Row[] = cluster.brokers.map((broker) => ({ ...loads.find((load) => load.id === broker.id), ...broker }));
  const top = Math.max(...rows.map((row) => row.size_bytes ?? 0), 0);
  const canWrite = useMayWrite()("cluster", cluster.id);
  const [restart, setRestart] = useState<number | null>(null);
  const known = columns(cluster.id, cluster.controller_id, top);
  const canRestart = cluster.kind === "managed" && canWrite;
  return (
    <>
      <DataTable
        rows={rows}
        columns={canRestart ? [...known, actions(setRestart)] : known}
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
    </>
  );
}
