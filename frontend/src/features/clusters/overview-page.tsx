import { Group } from "@mantine/core";
import { IconPlugConnected, IconPlus, IconServer2 } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import { ButtonLink } from "@/components/button-link";
import { Card, PartView } from "@/components/card";
import { DataTable } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { OperationList } from "@/components/operation-list";
import { PageHeader } from "@/components/page-header";
import { RelTime } from "@/components/rel-time";
import { Stats, StatsSkeleton } from "@/components/stats";
import { PhaseStatus } from "@/components/status";
import { TERMINAL } from "@/lib/operations";
import { useMayWrite } from "@/lib/permissions";
import { useSession } from "@/lib/session";
import type { Cluster } from "@/lib/types";
import { useOverview } from "@/lib/use-clusters";
import { words } from "@/words/overview";
import { AttentionList } from "./attention-list";

const say = words.overviewPage;

const column = createColumnHelper<Cluster>();
const columns = [
  column.accessor("name", {
    header: say.cluster,
    cell: ({ row }) => (
      <Link to="/clusters/$clusterId" params={{ clusterId: row.original.id }} className="ps-link">
        {row.original.name}
      </Link>
    ),
  }),
  column.accessor("phase", { header: say.state, cell: (cell) => <PhaseStatus phase={cell.getValue()} /> }),
  column.accessor((row) => row.brokers.filter((broker) => broker.alive).length, {
    id: "brokers",
    header: say.brokersAlive,
    meta: { align: "right" },
    cell: ({ row, getValue }) => {
      const total = row.original.brokers.length;
      return <span className={getValue() < total ? "ps-warn" : undefined}>{say.ofWord(getValue(), total)}</span>;
    },
  }),
  column.accessor("bootstrap_servers", {
    header: say.bootstrapServers,
    meta: { hideBelow: "md" },
    cell: (cell) => <span className="ps-mono">{cell.getValue()}</span>,
  }),
  column.accessor("kind", {
    header: say.owned,
    meta: { hideBelow: "md" },
    cell: (cell) => <span className="ps-muted">{cell.getValue() === "managed" ? say.byPenstock : say.registered}</span>,
  }),
  column.accessor("created_at", {
    header: say.created,
    meta: { hideBelow: "sm" },
    cell: (cell) => <RelTime at={cell.getValue()} />,
  }),
];

export function OverviewPage() {
  const query = useOverview();
  const { data: session } = useSession();
  const parts = query.data?.parts;
  const clusters = parts?.clusters.data ?? [];
  const brokers = clusters.flatMap((cluster) => cluster.brokers);
  const alive = brokers.filter((broker) => broker.alive).length;
  const running = (parts?.operations.data ?? []).filter((operation) => !TERMINAL.has(operation.state)).length;
  const attention = parts?.attention.data ?? [];
  const create = useMayWrite()("cluster") && (
    <Group gap={8}>
      <ButtonLink variant="default" to="/clusters/register" leftSection={<IconPlugConnected size={15} />}>
        {say.registerAKafka}
      </ButtonLink>
      <ButtonLink to="/clusters/new" leftSection={<IconPlus size={15} />}>
        {say.newCluster}
      </ButtonLink>
    </Group>
  );
  return (
    <>
      <PageHeader
        title={say.overview}
        sub={session?.tenant ? say.everythingRuns(session.tenant.name) : undefined}
        actions={create}
      />
      <div style={{ display: "grid", gap: 14 }}>
        {query.isPending ? (
          <StatsSkeleton count={4} />
        ) : (
          <Stats
            items={[
              {
                label: say.clusters,
                value: clusters.length,
                note: say.running(clusters.filter((cluster) => cluster.phase === "RUNNING").length),
              },
              {
                label: say.brokersAlive,
                value: say.of2(alive, brokers.length),
                tone: alive < brokers.length ? "warn" : undefined,
                note: alive < brokers.length ? say.brokersDown(brokers.length - alive) : say.allServing,
              },
              {
                label: say.operationsRunning,
                value: running,
                note: running ? say.liveBelow : say.noneRunning,
                tone: running ? "run" : undefined,
              },
              {
                label: say.needsAttention,
                value: parts?.attention.status === "unavailable" ? "–" : attention.length,
                tone: attention.some((item) => item.severity === "critical")
                  ? "bad"
                  : attention.length
                    ? "warn"
                    : undefined,
                note:
                  parts?.attention.status === "unavailable"
                    ? say.notKnownRightNow
                    : attention.length
                      ? say.seeBelow
                      : say.nothingFound,
              },
            ]}
          />
        )}
        {attention.length > 0 && <AttentionList items={attention} />}
        <Card title={say.clusters}>
          <PartView query={query} name="clusters">
            {(rows) => (
              <DataTable
                rows={rows}
                columns={columns}
                rowId={(row) => row.id}
                label={say.clusters}
                defaultSort="name"
                empty={
                  <Empty icon={<IconServer2 size={20} />} title={say.noClusterYet} action={create}>
                    {say.aClusterOfBrokersIs}
                  </Empty>
                }
              />
            )}
          </PartView>
        </Card>
        <Card
          title={say.recentOperations}
          aside={
            <Link to="/operations" className="ps-link" style={{ fontSize: "0.8125rem" }}>
              {say.allOperations}
            </Link>
          }
        >
          <PartView query={query} name="operations">
            {(rows) => <OperationList operations={rows.slice(0, 8)} compact />}
          </PartView>
        </Card>
      </div>
    </>
  );
}
