import { Tabs, Tooltip } from "@mantine/core";
import { IconRewindBackward10 } from "@tabler/icons-react";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import { useState } from "react";
import { BrokerLink } from "@/components/broker-link";
import { ButtonLink } from "@/components/button-link";
import { AlertsHere } from "@/components/alerts-here";
import { Card, PartView } from "@/components/card";
import { DataTable } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { LagHistory } from "@/components/lag-history";
import { DeleteItem, MoreMenu } from "@/components/more-menu";
import { PageHeader } from "@/components/page-header";
import { PlanFlow } from "@/components/plan-flow";
import { Quantity } from "@/components/quantity";
import { Refused } from "@/components/refused";
import { type Stat, Stats, StatsSkeleton } from "@/components/stats";
import { GroupState } from "@/components/status";
import { ThroughputCard } from "@/components/throughput-card";
import { formatInteger } from "@/lib/format";
import { worstByGroup } from "@/lib/lag";
import { usePage } from "@/lib/page";
import { useVisited } from "@/lib/use-recent";
import { Star } from "@/components/star";
import { isRefusal } from "@/lib/problem";
import { GROUP_TABS, type Range } from "@/lib/search";
import { useMayWrite } from "@/lib/permissions";
import type { GroupDetail, GroupMember, LagPoint, PlanRequest } from "@/lib/types";
import { words } from "@/words/groups";
import { AnalysesTab } from "./analyses-tab";
import { DiagnosisNotice, HarmStatus } from "./diagnosis";
import { ExpiryTable, soonestExpiry } from "./expiry-table";
import { OffsetTable } from "./offset-table";
import { PaceHistory } from "./pace-history";
import { notStarted } from "./unread";

const say = words.groupPage;

const route = getRouteApi("/app/clusters/$clusterId/groups/$group");

const member = createColumnHelper<GroupMember>();
const memberColumns = [
  member.accessor("client_id", {
    header: say.client,
    cell: ({ row }) => (
      <>
        <div>{row.original.client_id}</div>
        <div className="ps-mono ps-muted" style={{ fontSize: "0.75rem" }}>
          {row.original.member_id}
        </div>
      </>
    ),
  }),
  member.accessor("host", {
    header: say.host,
    meta: { hideBelow: "sm" },
    cell: (cell) => <span className="ps-mono">{cell.getValue().replace(/^\//, "")}</span>,
  }),
  member.accessor((row) => row.partitions.length, { id: "count", header: say.partitions, meta: { align: "right" } }),
  member.accessor((row) => assigned(row), {
    id: "assigned",
    header: say.assigned,
    enableSorting: false,
    cell: (cell) => <span className="ps-mono ps-muted">{cell.getValue() || say.nothingIdle}</span>,
  }),
];

/** "orders 0–3, 5; payments 1" */
function assigned(row: GroupMember): string {
  const byTopic = new Map<string, number[]>();
  for (const { topic, partition } of row.partitions) byTopic.set(topic, [...(byTopic.get(topic) ?? []), partition]);
  return [...byTopic]
    .map(([topic, ids]) => `${topic} ${ids.sort((left, right) => left - right).join(", ")}`)
    .join("; ");
}

function figures(
  clusterId: string,
  group: GroupDetail,
  verdict: LagPoint | undefined,
  expiry: number | null | undefined,
): Stat[] {
  const more = notStarted(group);
  return [
    {
      label: say.state,
      value: <GroupState state={group.state} />,
      note:
        group.coordinator === null
          ? undefined
          : say.coordinator(<BrokerLink clusterId={clusterId} id={group.coordinator} />),
    },
    {
      label: say.members,
      value: formatInteger(group.members.length),
      note: say.topics(new Set(group.offsets.map((row) => row.topic)).size),
    },
    {
      label: say.lag,
      value: formatInteger(group.lag),
      note: more ? `+ ${more}` : say.recordsOfAllPartitions,
    },
    {
      label: say.behindBy,
      value: <Quantity of="span" value={verdict?.lag_seconds} none="–" isKey />,
      note: <HarmStatus diagnosis={group.diagnosis} />,
    },
    {
      label: say.oldestUnreadExpires,
      value:
        expiry === null || expiry === undefined
          ? "–"
          : expiry <= 0
            ? say.now
            : say.within(<Quantity of="span" value={expiry} isKey />),
      tone: expiry !== null && expiry !== undefined && expiry <= 0 ? "bad" : undefined,
      note: verdict?.eta_seconds
        ? say.caughtUpIn(<Quantity of="span" value={verdict.eta_seconds} />)
        : expiry === null || expiry === undefined
          ? say.nothingAtRisk
          : say.unlessReadBefore,
    },
  ];
}

export function GroupPage() {
  const { clusterId, group: name } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const leave = useNavigate();
  const [range, setRange] = useState<Range>("1h");
  const [request, setRequest] = useState<PlanRequest | null>(null);
  const canWrite = useMayWrite()("group", clusterId, name);
  const query = usePage("group/{cluster_id}/{group}", { cluster_id: clusterId, group: name });
  const parts = query.data?.parts;
  const group = parts?.group.data;
  const verdict = worstByGroup(parts?.lag.data?.data ?? []).get(name);
  const active = (group?.members.length ?? 0) > 0;
  const tab = search.tab ?? "offsets";
  useVisited("group", clusterId, name, group !== null && group !== undefined);
  if (isRefusal(query) && request === null) return <Refused error={query.error} />;
  return (
    <>
      <PageHeader
        title={name}
        seen={query.data?.parts.group}
        mono
        mark={<Star about={{ kind: "group", cluster_id: clusterId, name }} />}
        sub={group && say.groupOf(group.protocol_type || "consumer")}
        actions={
          canWrite &&
          group && (
            <>
              <Tooltip label={active ? say.membersHaveToStop : say.planNewOffsets}>
                <ButtonLink
                  variant="default"
                  to="/clusters/$clusterId/groups/$group/reset"
                  params={{ clusterId, group: name }}
                  leftSection={<IconRewindBackward10 size={15} />}
                >
                  {say.resetOffsets}
                </ButtonLink>
              </Tooltip>
              <MoreMenu>
                <DeleteItem
                  onClick={() => setRequest({ kind: "group.delete", cluster_id: clusterId, inputs: { group: name } })}
                >
                  {say.deleteGroup}
                </DeleteItem>
              </MoreMenu>
            </>
          )
        }
      />
      <div className="ps-stack">
        <AlertsHere clusterId={clusterId} about={{ area: "group", name }} />
        {group && <DiagnosisNotice diagnosis={group.diagnosis} />}
        {group ? (
          <Stats items={figures(clusterId, group, verdict, soonestExpiry(parts.retention.data, name))} />
        ) : (
          query.isPending && <StatsSkeleton />
        )}
        <Tabs
          value={tab}
          keepMounted={false}
          onChange={(value) => {
            const next = GROUP_TABS.find((item) => item === value);
            void navigate({ search: { tab: next === "offsets" ? undefined : next }, replace: true });
          }}
        >
          <Tabs.List mb={12}>
            <Tabs.Tab value="offsets">{say.lagAndOffsets}</Tabs.Tab>
            <Tabs.Tab value="analyses">{say.analyses}</Tabs.Tab>
            <Tabs.Tab value="members">{active ? say.membersOf(group?.members.length ?? 0) : say.members}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="offsets">
            <div className="ps-stack">
              <LagHistory
                clusterId={clusterId}
                group={name}
                range={range}
                onRange={setRange}
                firstVerdictAt={parts?.collector.data?.first_verdict_due_at}
              />
              <PaceHistory clusterId={clusterId} group={name} range={range} worst={group?.diagnosis.topic} />
              <ThroughputCard
                clusterId={clusterId}
                subject={{ of: "group", group: name }}
                range={search.range}
                onRange={(chosen) => void navigate({ search: (old) => ({ ...old, range: chosen }), replace: true })}
              />
              <Card title={say.placeInEachPartition}>
                <PartView query={query} name="group" rows={7}>
                  {(found) => (
                    <OffsetTable
                      clusterId={clusterId}
                      group={name}
                      rows={found.offsets}
                      hasMembers={found.members.length > 0}
                      view={search}
                      onView={(view) => void navigate({ search: (old) => ({ ...old, ...view }), replace: true })}
                    />
                  )}
                </PartView>
              </Card>
              <PartView query={query} name="retention" rows={3}>
                {(gold) => <ExpiryTable gold={gold} group={name} clusterId={clusterId} />}
              </PartView>
            </div>
          </Tabs.Panel>
          <Tabs.Panel value="analyses">
            <AnalysesTab
              clusterId={clusterId}
              group={name}
              span={search.span ?? "2d"}
              range={search.range ?? "24h"}
              onRange={(chosen) =>
                void navigate({
                  search: (old) => ({ ...old, range: chosen === "24h" ? undefined : chosen }),
                  replace: true,
                })
              }
              onSpan={(span) =>
                void navigate({
                  search: (old) => ({ ...old, span: span === "2d" ? undefined : span }),
                  replace: true,
                })
              }
            />
          </Tabs.Panel>
          <Tabs.Panel value="members">
            <Card>
              <PartView query={query} name="group">
                {(found) => (
                  <DataTable
                    rows={found.members}
                    columns={memberColumns}
                    rowId={(row) => row.member_id}
                    label={say.members}
                    defaultSort="client_id"
                    empty={<Empty title={say.noMembers}>{say.nobodyReads}</Empty>}
                  />
                )}
              </PartView>
            </Card>
          </Tabs.Panel>
        </Tabs>
      </div>
      <PlanFlow
        request={request}
        title={say.deleteNamed(name)}
        onClose={() => setRequest(null)}
        leave={{
          label: say.backToGroups,
          go: () => void leave({ to: "/clusters/$clusterId/groups", params: { clusterId } }),
        }}
      />
    </>
  );
}
