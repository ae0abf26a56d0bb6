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
import { PhaseStatus, Status } from "@/components/status";
import { plural } from "@/lib/format";
import { TERMINAL } from "@/lib/operations";
import { useMayWrite } from "@/lib/permissions";
import { useSession } from "@/lib/session";
import type { Cluster, Host } from "@/lib/types";
import { useOverview } from "@/lib/use-clusters";
import { AttentionList } from "./attention-list";

const column = createColumnHelper<Cluster>();
const columns = [
  column.accessor("name", {
    header: "Cluster",
    cell: ({ row }) => (
      <Link to="/clusters/$clusterId" params={{ clusterId: row.original.id }} className="ps-link">
        {row.original.name}
      </Link>
    ),
  }),
  column.accessor("phase", { header: "State", cell: (cell) => <PhaseStatus phase={cell.getValue()} /> }),
  column.accessor((row) => row.brokers.filter((broker) => broker.alive).length, {
    id: "brokers",
    header: "Brokers alive",
    meta: { align: "right" },
    cell: ({ row, getValue }) => {
      const total = row.original.brokers.length;
      return <span className={getValue() < total ? "ps-warn" : undefined}>{`${getValue()} of ${total}`}</span>;
    },
  }),
  column.accessor("bootstrap_servers", {
    header: "Bootstrap servers",
    meta: { hideBelow: "md" },
    cell: (cell) => <span className="ps-mono">{cell.getValue()}</span>,
  }),
  column.accessor("kind", {
    header: "Owned",
    meta: { hideBelow: "md" },
    cell: (cell) => <span className="ps-muted">{cell.getValue() === "managed" ? "by Penstock" : "registered"}</span>,
  }),
  column.accessor("created_at", {
    header: "Created",
    meta: { hideBelow: "sm" },
    cell: (cell) => <RelTime at={cell.getValue()} />,
  }),
];

function Hosts({ hosts }: { hosts: Host[] }) {
  if (hosts.length === 0)
    return (
      <Empty title="No host agent has reported yet">
        Start one with the deployment you use; it appears here within seconds.
      </Empty>
    );
  return (
    <table className="ps-table" aria-label="Hosts">
      <thead>
        <tr>
          <th scope="col">Host</th>
          <th scope="col">Rack</th>
          <th scope="col">Agent</th>
        </tr>
      </thead>
      <tbody>
        {hosts.map((host) => (
          <tr key={host.host_id}>
            <td className="ps-mono">{host.host_id}</td>
            <td>{host.rack}</td>
            <td>{host.alive ? <Status tone="ok" label="Connected" /> : <Status tone="bad" label="Not connected" />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

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
        Register a Kafka
      </ButtonLink>
      <ButtonLink to="/clusters/new" leftSection={<IconPlus size={15} />}>
        New cluster
      </ButtonLink>
    </Group>
  );
  return (
    <>
      <PageHeader
        title="Overview"
        sub={session?.tenant ? `Everything ${session.tenant.name} runs.` : undefined}
        actions={create}
      />
      <div style={{ display: "grid", gap: 14 }}>
        {query.isPending ? (
          <StatsSkeleton count={4} />
        ) : (
          <Stats
            items={[
              {
                label: "Clusters",
                value: clusters.length,
                note: `${clusters.filter((cluster) => cluster.phase === "RUNNING").length} running`,
              },
              {
                label: "Brokers alive",
                value: `${alive} of ${brokers.length}`,
                tone: alive < brokers.length ? "warn" : undefined,
                note: alive < brokers.length ? plural(brokers.length - alive, "broker") + " down" : "all serving",
              },
              {
                label: "Operations running",
                value: running,
                note: running ? "live below" : "none running",
                tone: running ? "run" : undefined,
              },
              {
                label: "Needs attention",
                value: parts?.attention.status === "unavailable" ? "–" : attention.length,
                tone: attention.some((item) => item.severity === "critical")
                  ? "bad"
                  : attention.length
                    ? "warn"
                    : undefined,
                note:
                  parts?.attention.status === "unavailable"
                    ? "not known right now"
                    : attention.length
                      ? "see below"
                      : "nothing found",
              },
            ]}
          />
        )}
        {attention.length > 0 && <AttentionList items={attention} />}
        <Card title="Clusters">
          <PartView query={query} name="clusters">
            {(rows) => (
              <DataTable
                rows={rows}
                columns={columns}
                rowId={(row) => row.id}
                label="Clusters"
                defaultSort="name"
                empty={
                  <Empty icon={<IconServer2 size={20} />} title="No cluster yet" action={create}>
                    A cluster of brokers is placed on your hosts by rack, with authentication and authorisation switched
                    on from the start.
                  </Empty>
                }
              />
            )}
          </PartView>
        </Card>
        <div className="ps-cols-2-1">
          <Card
            title="Recent operations"
            aside={
              <Link to="/operations" className="ps-link" style={{ fontSize: "0.8125rem" }}>
                All operations
              </Link>
            }
          >
            <PartView query={query} name="operations">
              {(rows) => <OperationList operations={rows.slice(0, 8)} compact />}
            </PartView>
          </Card>
          <Card title="Hosts">
            <PartView query={query} name="hosts">
              {(rows) => <Hosts hosts={rows} />}
            </PartView>
          </Card>
        </div>
      </div>
    </>
  );
}
