import { Stack } from "@mantine/core";
import { IconServer2 } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import { useState } from "react";
import { Card } from "@/components/card";
import { CodeBlock } from "@/components/copy";
import { DataTable } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { ListView } from "@/components/list-view";
import { RelTime } from "@/components/rel-time";
import { type HostAct, usePlatformHosts } from "@/lib/administration";
import { takesNoneText } from "@/lib/host-said";
import type { PlatformHost } from "@/lib/types";
import { words } from "@/words/platform";
import { HostActForm } from "./host-act";
import { HostAlerts } from "./host-alerts";
import { AgentState, FreeOf, HostMenu, HostState, Reported } from "./host-parts";
import { JoinToken } from "./join-token";

const say = words.hostsTab;

const column = createColumnHelper<PlatformHost>();
export function HostsTab() {
  const [chosen, setChosen] = useState<{ host: PlatformHost; act: HostAct } | null>(null);
  const hosts = usePlatformHosts();
  const columns = [
    column.accessor("host_id", {
      header: say.host,
      cell: ({ getValue }) => (
        <Link
          to="/platform/hosts/$hostId"
          params={{ hostId: getValue() }}
          className="ps-link ps-mono"
          style={{ whiteSpace: "nowrap" }}
        >
          {getValue()}
        </Link>
      ),
    }),
    column.accessor("state", { header: say.state, cell: ({ row }) => <HostState host={row.original} /> }),
    column.accessor("alive", {
      header: say.agent,
      cell: ({ row: { original: host } }) => (
        <>
          <AgentState host={host} />{" "}
          <span className="ps-muted ps-hide-sm">
            {host.alive
              ? say.since(<RelTime at={host.alive_since} />)
              : say.described(<RelTime at={host.described_at} />)}
          </span>
        </>
      ),
    }),
    column.accessor("rack", { header: say.rack, meta: { hideBelow: "md" } }),
    column.accessor((row) => row.capacity.disk_free_bytes ?? -1, {
      id: "disk",
      header: say.diskFree,
      meta: { hideBelow: "sm" },
      cell: ({ row: { original: host } }) => (
        <>
          <FreeOf free={host.capacity.disk_free_bytes} total={host.capacity.disk_total_bytes} />{" "}
          <span className="ps-hide-sm">
            <Reported host={host} />
          </span>
        </>
      ),
    }),
    column.accessor("brokers", { header: say.brokers, meta: { align: "right" } }),
    column.accessor((row) => Number(row.takes_brokers), {
      id: "takes",
      header: say.takesBrokers,
      meta: { hideBelow: "md" },
      cell: ({ row: { original: host } }) =>
        host.takes_brokers ? say.yes : <span className="ps-muted">{takesNoneText(host)}</span>,
    }),
    column.display({
      id: "actions",
      header: () => <span className="ps-sr">{say.actions}</span>,
      meta: { align: "right" },
      cell: ({ row: { original: host } }) => <HostMenu host={host} onChoose={(act) => setChosen({ host, act })} />,
    }),
  ];
  return (
    <Stack gap="md">
      <HostAlerts />
      <Card title={say.hosts}>
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
        <JoinToken />
        <p style={{ margin: "16px 0 8px" }}>{say.admitItWhereTheControl}</p>
        <CodeBlock label={say.command} text={say.admit} />
      </Card>
      {chosen && <HostActForm host={chosen.host} act={chosen.act} onClose={() => setChosen(null)} />}
    </Stack>
  );
}
