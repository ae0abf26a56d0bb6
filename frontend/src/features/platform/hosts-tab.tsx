import { ActionIcon, Menu, Stack } from "@mantine/core";
import { IconDots, IconServer2 } from "@tabler/icons-react";
import { createColumnHelper } from "@tanstack/react-table";
import { useState } from "react";
import { Card } from "@/components/card";
import { CodeBlock } from "@/components/copy";
import { DataTable } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { FormModal } from "@/components/form-modal";
import { ListView } from "@/components/list-view";
import { DeleteItem } from "@/components/more-menu";
import { ProblemPanel } from "@/components/problem-panel";
import { RelTime } from "@/components/rel-time";
import { Status } from "@/components/status";
import { useChange, usePlatformHosts } from "@/lib/administration";
import { api } from "@/lib/api-client";
import type { PlatformHost } from "@/lib/types";
import { words } from "@/words/platform";

const say = words.hostsTab;

const column = createColumnHelper<PlatformHost>();
export function HostsTab() {
  const [removing, setRemoving] = useState<PlatformHost | null>(null);
  const hosts = usePlatformHosts();
  const drain = useChange(
    (host: PlatformHost) =>
      api.put("/api/v1/operator/hosts/{host_id}", {
        blanks: { host_id: host.host_id },
        body: { drained: !host.drained },
        ifMatch: host.etag,
      }),
    (host) => (host.drained ? say.getsNoMoreBrokers(host.host_id) : say.getsBrokersAgain(host.host_id)),
  );
  const columns = [
    column.accessor("host_id", {
      header: say.host,
      cell: ({ row, getValue }) => (
        <>
          <span className="ps-mono" style={{ whiteSpace: "nowrap" }}>
            {getValue()}
          </span>
          {row.original.drained && (
            <span className="ps-tag" data-tone="muted">
              {say.drained}
            </span>
          )}
        </>
      ),
    }),
    column.accessor("alive", {
      header: say.agent,
      cell: ({ row: { original: host } }) =>
        host.alive ? (
          <>
            <Status tone="ok" label={say.alive} />{" "}
            <span className="ps-muted ps-hide-sm">{say.since(<RelTime at={host.alive_since} />)}</span>
          </>
        ) : (
          <>
            <Status tone="bad" label={say.away} />{" "}
            <span className="ps-muted ps-hide-sm">{say.described(<RelTime at={host.described_at} />)}</span>
          </>
        ),
    }),
    column.accessor("rack", { header: say.rack, meta: { hideBelow: "md" } }),
    column.accessor((row) => row.broker_list.length, {
      id: "brokers",
      header: say.runs,
      cell: ({ row: { original: host } }) => <Brokers host={host} />,
    }),
    column.display({
      id: "actions",
      header: () => <span className="ps-sr">{say.actions}</span>,
      meta: { align: "right" },
      cell: ({ row: { original: host } }) => (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon size="sm" aria-label={say.actionsFor(host.host_id)}>
              <IconDots size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => drain.mutate(host)}>{host.drained ? say.resume : say.drain}</Menu.Item>
            <DeleteItem onClick={() => setRemoving(host)}>{say.remove}</DeleteItem>
          </Menu.Dropdown>
        </Menu>
      ),
    }),
  ];
  return (
    <Stack gap="md">
      <Card title={say.hosts}>
        {drain.isError && (
          <div className="ps-card-body">
            <ProblemPanel error={drain.error} />
          </div>
        )}
        <ListView query={hosts}>
          {(rows) => (
            <DataTable
              rows={rows}
              columns={columns}
              rowId={(row) => row.host_id}
              label={say.hosts}
              defaultSort="host_id"
              empty={
                <Empty icon={<IconServer2 size={20} />} title={say.noHostsYet}>
                  {say.aHostIsThereAs}
                </Empty>
              }
            />
          )}
        </ListView>
      </Card>
      <Card title={say.addAHost} padded>
        <p style={{ margin: "0 0 8px" }}>{say.admitItWhereTheControl}</p>
        <CodeBlock label={say.command} text={say.admit} />
      </Card>
      {removing && <RemoveForm host={removing} onClose={() => setRemoving(null)} />}
    </Stack>
  );
}

function Brokers({ host }: { host: PlatformHost }) {
  if (host.broker_list.length === 0) return <span className="ps-muted">{say.nothing}</span>;
  return (
    <div style={{ display: "grid", gap: 2, padding: "3px 0" }}>
      {host.broker_list.map((broker) => (
        <span key={`${broker.cluster_id}-${broker.broker_id}`}>
          {broker.tenant}/{broker.cluster}/{broker.broker_id}{" "}
          <span className="ps-muted">
            {broker.observed_state ?? say.stateNotKnown} <RelTime at={broker.observed_at} fallback="" />
          </span>
        </span>
      ))}
    </div>
  );
}

function RemoveForm({ host: { host_id, etag }, onClose }: { host: PlatformHost; onClose: () => void }) {
  const send = useChange(
    () => api.delete("/api/v1/operator/hosts/{host_id}", { blanks: { host_id }, ifMatch: etag }),
    () => say.wasRemoved(host_id),
  );
  return (
    <FormModal
      title={say.remove2(host_id)}
      opened
      onClose={onClose}
      submit={say.remove}
      danger
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <p style={{ margin: 0 }}>{say.itsNodesInZookeeperAre}</p>
    </FormModal>
  );
}
