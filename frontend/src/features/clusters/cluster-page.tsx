import { Menu } from "@mantine/core";
import { IconBook2, IconCrown, IconKey } from "@tabler/icons-react";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { BrokerLink, BrokerLinks } from "@/components/broker-link";
import { ButtonLink } from "@/components/button-link";
import { Card, PartView } from "@/components/card";
import { Copy } from "@/components/copy";
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
import { PhaseStatus } from "@/components/status";
import { ThroughputCard } from "@/components/throughput-card";
import { formatInteger } from "@/lib/format";
import { kindLabel } from "@/lib/kinds";
import { usePage } from "@/lib/page";
import { isRefusal } from "@/lib/problem";
import { useMayWrite } from "@/lib/permissions";
import type { ActiveReassignments, Cluster, ClusterSummary, PlanRequest } from "@/lib/types";
import { useCluster } from "@/lib/use-clusters";
import { words } from "@/words/clusters";
import { AttentionList } from "./attention-list";
import { BrokerTable } from "./broker-table";
import { BrokersAside } from "./brokers-aside";
import { ConnectCard } from "./connect-card";
import { CutBound } from "./cut-bound";
import { HealingCard } from "./healing-card";
import { RebalanceCard } from "./rebalance-card";
import { SoftwareCard } from "./software-card";

const say = words.clusterPage;

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
        <Card title={say.brokers} aside={cluster && <BrokersAside cluster={cluster} />}>
          <PartView query={query} name="cluster">
            {(found) => (
              <>
                <BrokerTable cluster={found} loads={parts?.loads.data ?? []} />
                <CutBound cluster={found} />
              </>
            )}
          </PartView>
        </Card>
        {cluster && <HealingCard cluster={cluster} />}
        {cluster && <RebalanceCard cluster={cluster} />}
        <ThroughputCard
          clusterId={clusterId}
          subject={{ of: "cluster" }}
          range={range}
          onRange={(chosen) => void navigate({ search: { range: chosen }, replace: true })}
        />
        {parts?.reassignments.data && parts.reassignments.data.total > 0 && (
          <Card title={say.partitionsOnThe2(parts.reassignments.data.total)}>
            <PartView query={query} name="reassignments">
              {(moves) => <Moves clusterId={clusterId} rows={moves.rows} />}
            </PartView>
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
        {cluster?.kind === "managed" && (
          <Card title={say.software}>
            <PartView query={query} name="versions">
              {(versions) => <SoftwareCard versions={versions} clusterId={clusterId} />}
            </PartView>
          </Card>
        )}
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
