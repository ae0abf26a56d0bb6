import { Button, Tabs } from "@mantine/core";
import { IconCrown, IconRefresh } from "@tabler/icons-react";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { AlertsHere } from "@/components/alerts-here";
import { BrokerState } from "@/components/broker-state";
import { Card, PartView } from "@/components/card";
import { Metered } from "@/components/metered";
import { OperationList } from "@/components/operation-list";
import { PageHeader } from "@/components/page-header";
import { PlanFlow } from "@/components/plan-flow";
import { Exact, Quantity } from "@/components/quantity";
import { Refused } from "@/components/refused";
import { SettingsTable } from "@/components/settings-table";
import { type Stat, Stats, StatsSkeleton } from "@/components/stats";
import { ThroughputCard } from "@/components/throughput-card";
import { formatInteger } from "@/lib/format";
import { kindLabel } from "@/lib/kinds";
import { usePage } from "@/lib/page";
import { isRefusal } from "@/lib/problem";
import { formatShare } from "@/lib/shares";
import { BROKER_TABS } from "@/lib/search";
import type { BrokerDetail, BrokerPlacement, PlanRequest } from "@/lib/types";
import { words } from "@/words/brokers";
import { ConfigureBrokers } from "./configure-brokers";
import { DirectoriesTab } from "./directories-tab";
import { LogTab } from "./log-tab";
import { PlacementTab } from "./placement-tab";
import { ProcessTab } from "./process-tab";

const say = words.brokerPage;

const route = getRouteApi("/app/clusters/$clusterId/brokers/$broker");

/** Above it a volume is soon full; segments are deleted whole. */
const DISK_WARN = 0.8;

function diskOf(broker: BrokerDetail): Stat {
  const { disk_total_bytes: total, disk_usable_bytes: usable } = broker;
  if (total === null || usable === null || total <= 0)
    return { label: say.diskUsed, value: say.unknown, note: say.theBrokerDoesNotSay };
  const share = (total - usable) / total;
  return {
    label: say.diskUsed,
    value: (
      <Metered share={share}>
        <Exact text={say.usedOfBytes(total - usable, total)}>{formatShare(share)}</Exact>
      </Metered>
    ),
    tone: share >= DISK_WARN ? "warn" : undefined,
    note: say.freeOf(<Quantity of="bytes" value={usable} />, <Quantity of="bytes" value={total} />),
  };
}

function figures(broker: BrokerDetail, trouble: BrokerPlacement | null | undefined): Stat[] {
  const behind = trouble?.out_of_sync ?? null;
  const follows = broker.leaders === null || broker.replicas === null ? null : broker.replicas - broker.leaders;
  return [
    { label: say.leads, value: formatInteger(broker.leaders), note: say.partitions },
    { label: say.follows, value: formatInteger(follows), note: say.partitions },
    {
      label: say.outOfSync,
      value: formatInteger(behind),
      tone: behind !== null && behind > 0 ? "bad" : undefined,
      note: trouble ? (trouble.offline > 0 ? say.withoutALeader(trouble.offline) : say.ofItsReplicas) : undefined,
    },
    {
      label: say.data,
      value: <Quantity of="bytes" value={broker.size_bytes} isKey />,
    },
    diskOf(broker),
    ...(broker.cluster_kind === "managed"
      ? [
          {
            label: say.restartsByItsAgent,
            value: formatInteger(broker.restarts),
            tone: broker.restarts > 0 ? ("warn" as const) : undefined,
          },
        ]
      : []),
  ];
}

/** One broker: how it is, what it leads and holds, its settings, its process and why it ended. */
export function BrokerPage() {
  const { clusterId, broker: id } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = usePage("broker/{cluster_id}/{broker_id}", { cluster_id: clusterId, broker_id: id });
  const [request, setRequest] = useState<PlanRequest | null>(null);
  if (isRefusal(query)) return <Refused error={query.error} />;
  const parts = query.data?.parts;
  const broker = parts?.broker.data;
  const canRestart = broker?.managed ?? false;
  return (
    <>
      <PageHeader
        title={say.broker(id)}
        seen={parts?.broker}
        mark={broker && <BrokerState broker={broker} />}
        sub={
          broker && (
            <>
              {broker.host && <span className="ps-mono">{`${broker.host}:${broker.port}`}</span>}
              {broker.rack && ` · ${say.rack(broker.rack)}`}
              {broker.is_controller && ` · ${say.controller}`}
            </>
          )
        }
        actions={
          broker?.may_change && (
            <>
              {broker.alive && (
                <Button
                  variant="default"
                  leftSection={<IconCrown size={15} />}
                  onClick={() =>
                    setRequest({ kind: "leaders.elect", cluster_id: clusterId, inputs: { broker: broker.id } })
                  }
                >
                  {say.letItLeadWhatPrefersIt}
                </Button>
              )}
              {canRestart && (
                <Button
                  variant="default"
                  leftSection={<IconRefresh size={15} />}
                  onClick={() =>
                    setRequest({ kind: "broker.restart", cluster_id: clusterId, inputs: { broker: broker.id } })
                  }
                >
                  {say.restartBroker}
                </Button>
              )}
              {canRestart && (
                <Button
                  variant="default"
                  onClick={() =>
                    setRequest({ kind: "cluster.replace_broker", cluster_id: clusterId, inputs: { broker: broker.id } })
                  }
                >
                  {say.putOnAnotherHost}
                </Button>
              )}
            </>
          )
        }
      />
      <div className="ps-stack">
        <AlertsHere clusterId={clusterId} />
        <PartView query={query} name="broker" skeleton={<StatsSkeleton />}>
          {(found) => <Stats items={figures(found, parts?.trouble.data)} />}
        </PartView>
        {/^\d+$/.test(id) && (
          <ThroughputCard
            clusterId={clusterId}
            subject={{ of: "broker", broker: Number(id) }}
            title={say.throughputOfWhatItLeads}
            range={search.range}
            onRange={(range) => void navigate({ search: (old) => ({ ...old, range }), replace: true })}
          />
        )}
        <Tabs
          value={search.tab ?? "partitions"}
          onChange={(tab) =>
            void navigate({
              search: ({ range }) => ({
                range,
                tab: BROKER_TABS.find((item) => item === tab && item !== "partitions"),
              }),
              replace: true,
            })
          }
          keepMounted={false}
        >
          <Tabs.List mb={12}>
            <Tabs.Tab value="partitions">{say.tabs.partitions}</Tabs.Tab>
            <Tabs.Tab value="directories">{say.tabs.directories}</Tabs.Tab>
            <Tabs.Tab value="settings">{say.tabs.configuration}</Tabs.Tab>
            <Tabs.Tab value="process">{say.tabs.process}</Tabs.Tab>
            <Tabs.Tab value="log">{say.tabs.log}</Tabs.Tab>
            <Tabs.Tab value="operations">{say.tabs.operations}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="partitions">
            <PlacementTab clusterId={clusterId} broker={id} />
          </Tabs.Panel>
          <Tabs.Panel value="directories">
            <DirectoriesTab clusterId={clusterId} broker={id} mayChange={broker?.may_change ?? false} />
          </Tabs.Panel>
          <Tabs.Panel value="settings">
            <Card
              title={say.tabs.configuration}
              aside={
                broker?.may_change && (
                  <ConfigureBrokers clusterId={clusterId} keys={(parts?.settings.data ?? []).map((row) => row.name)} />
                )
              }
            >
              <PartView query={query} name="settings" rows={10}>
                {(settings) => (
                  <SettingsTable
                    settings={settings}
                    search={search.q ?? ""}
                    onSearch={(q) => void navigate({ search: (old) => ({ ...old, q: q || undefined }), replace: true })}
                  />
                )}
              </PartView>
            </Card>
          </Tabs.Panel>
          <Tabs.Panel value="process">
            <Card>
              <PartView query={query} name="process" rows={6}>
                {(process) => <ProcessTab process={process} />}
              </PartView>
            </Card>
          </Tabs.Panel>
          <Tabs.Panel value="log">
            <PartView query={query} name="broker" rows={10}>
              {(found) => (
                <LogTab
                  clusterId={clusterId}
                  broker={found}
                  level={search.level}
                  onLevel={(level) => void navigate({ search: (old) => ({ ...old, level }), replace: true })}
                />
              )}
            </PartView>
          </Tabs.Panel>
          <Tabs.Panel value="operations">
            <Card>
              <PartView query={query} name="operations">
                {(rows) => <OperationList operations={rows} />}
              </PartView>
            </Card>
          </Tabs.Panel>
        </Tabs>
      </div>
      <PlanFlow
        request={request}
        title={request ? say.planFor(kindLabel(request.kind), id) : ""}
        onClose={() => setRequest(null)}
      />
    </>
  );
}
