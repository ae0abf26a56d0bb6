import { Menu, Tabs } from "@mantine/core";
import { IconArrowsExchange, IconClockPlus, IconCopy, IconEraser, IconPlus } from "@tabler/icons-react";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { AsOf } from "@/components/as-of";
import { ButtonLink } from "@/components/button-link";
import { AlertsHere } from "@/components/alerts-here";
import { Card, PartView } from "@/components/card";
import { DeleteItem, MoreMenu } from "@/components/more-menu";
import { Notice } from "@/components/notice";
import { ChangedBy, ChangedWhen } from "@/components/sighting";
import { PageHeader } from "@/components/page-header";
import { Mend } from "@/components/mend";
import { PlanFlow } from "@/components/plan-flow";
import { KeptFor, Quantity } from "@/components/quantity";
import { Refused } from "@/components/refused";
import { type Stat, Stats, StatsSkeleton } from "@/components/stats";
import { Star } from "@/components/star";
import { ThroughputCard } from "@/components/throughput-card";
import { adoptProblem, backProblem, differenceText } from "@/lib/differences";
import { formatInteger } from "@/lib/format";
import { usePage } from "@/lib/page";
import { useVisited } from "@/lib/use-recent";
import type { PlanRequest } from "@/lib/types";
import { isRefusal } from "@/lib/problem";
import { type ChartRange, TOPIC_TABS } from "@/lib/search";
import { useMayWrite } from "@/lib/permissions";
import type { TopicDetail, TopicRetention } from "@/lib/types";
import { words } from "@/words/topics";
import { AnalysesTab } from "./analyses-tab";
import { ClientsTab } from "./clients-tab";
import { ConfigurationTab } from "./configuration-tab";
import { Expiry } from "./expiry";
import { AddPartitions } from "./add-partitions";
import { LeaseCard } from "./lease-card";
import { LeaseForm } from "./lease-form";
import { PartitionsTab } from "./partitions-tab";

const say = words.topicPage;

const route = getRouteApi("/app/clusters/$clusterId/topics/$topic");

/** A tab that leads to a page of its own. */
const MESSAGES = "messages";

const configOf = (topic: TopicDetail, name: string) =>
  topic.configs?.find((entry) => entry.name === name)?.value ?? null;

function figures(topic: TopicDetail, held: TopicRetention | undefined): Stat[] {
  const offline = topic.partitions.filter((partition) => partition.leader === null || partition.leader < 0).length;
  const behind = topic.partitions.filter((partition) => partition.isr.length < partition.replicas.length).length;
  const records = topic.partitions.reduce(
    (sum, row) => sum + Math.max(0, (row.log_end ?? 0) - (row.log_start ?? 0)),
    0,
  );
  const retention = Number(configOf(topic, "retention.ms") ?? Number.NaN);
  return [
    {
      label: say.partitions,
      value: formatInteger(topic.partitions.length),
      note: say.copiesEach(topic.partitions[0]?.replicas.length ?? 0),
    },
    {
      label: say.replicas,
      value: offline ? say.offline(offline) : behind ? say.behind(behind) : say.inSync,
      tone: offline ? "bad" : behind ? "warn" : "ok",
    },
    {
      label: say.recordsHeld,
      value: <Quantity of="records" value={records} isKey />,
      note: say.logEndLessLogStart,
    },
    {
      label: say.size,
      value: <Quantity of="bytes" value={topic.size_bytes} isKey />,
      note: say.leadersCopies,
    },
    {
      label: say.keptFor,
      value: <KeptFor ms={Number.isNaN(retention) ? null : retention} none="–" isKey />,
      note:
        held?.age_seconds !== null && held?.age_seconds !== undefined
          ? say.oldestRecord(<Quantity of="span" value={held.age_seconds} />)
          : (configOf(topic, "cleanup.policy") ?? undefined),
    },
  ];
}

function retentionOf(topic: TopicDetail): number | null {
  const value = configOf(topic, "retention.ms");
  return value === null || Number.isNaN(Number(value)) ? null : Number(value);
}

function titleOf(request: PlanRequest | null, name: string): string {
  switch (request?.kind) {
    case "topic.delete":
      return say.deleteTopicNamed(name);
    case "topic.empty":
      return say.emptyTopicNamed(name);
    case "topic.partitions":
      return say.addPartitions;
    case "topic.retention_lease":
      return say.keepLonger;
    case "topic.retention_restore":
      return say.putTheRetentionBack;
    default:
      return say.changeConfiguration;
  }
}

export function TopicPage() {
  const { clusterId, topic: name } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const leave = useNavigate();
  const setRange = (range: ChartRange) => void navigate({ search: (old) => ({ ...old, range }), replace: true });
  const may = useMayWrite();
  const query = usePage("topic/{cluster_id}/{topic}", { cluster_id: clusterId, topic: name });
  const [request, setRequest] = useState<PlanRequest | null>(null);
  const [adding, setAdding] = useState(false);
  /** The lease under way; what it asks for first, ms, where somebody has chosen. */
  const [leasing, setLeasing] = useState<{ startMs?: number } | null>(null);
  const topic = query.data?.parts.topic.data;
  const held = query.data?.parts.retention.data?.data.find((row) => row.topic === name);
  const canWrite = may("topic", clusterId, name);
  const canMove = may("cluster", clusterId);
  useVisited("topic", clusterId, name, topic !== null && topic !== undefined);
  const planEmpty = () => setRequest({ kind: "topic.empty", cluster_id: clusterId, inputs: { name } });
  const planDelete = () => setRequest({ kind: "topic.delete", cluster_id: clusterId, inputs: { name } });
  // While a dialog shows how it is deleted, its end is seen there; then the page leads away.
  if (isRefusal(query) && request === null) return <Refused error={query.error} />;
  return (
    <>
      <PageHeader
        title={name}
        seen={query.data?.parts.topic}
        mono
        mark={
          <>
            <Star about={{ kind: "topic", cluster_id: clusterId, name }} />
            {topic?.internal && (
              <span className="ps-tag" data-tone="muted">
                {say.internal}
              </span>
            )}
          </>
        }
        sub={topic?.topic_id && <span className="ps-mono">{say.id(topic.topic_id)}</span>}
        actions={
          (canWrite || canMove) &&
          topic && (
            <>
              {canMove && (
                <ButtonLink
                  variant="default"
                  to="/clusters/$clusterId/reassign"
                  params={{ clusterId }}
                  search={{ topic: name }}
                  leftSection={<IconArrowsExchange size={15} />}
                >
                  {say.move}
                </ButtonLink>
              )}
              {canWrite && (
                <MoreMenu>
                  <Menu.Item leftSection={<IconPlus size={15} />} onClick={() => setAdding(true)}>
                    {say.addPartitions}
                  </Menu.Item>
                  <Menu.Item leftSection={<IconClockPlus size={15} />} onClick={() => setLeasing({})}>
                    {topic.lease ? say.keepLongerStill : say.keepLonger}
                  </Menu.Item>
                  <Menu.Item
                    leftSection={<IconCopy size={15} />}
                    onClick={() =>
                      void leave({
                        to: "/clusters/$clusterId/new-topic",
                        params: { clusterId },
                        search: { from: name },
                      })
                    }
                  >
                    {say.cloneTopic}
                  </Menu.Item>
                  <Menu.Divider />
                  {!topic.internal && (
                    <Menu.Item color="red" leftSection={<IconEraser size={15} />} onClick={planEmpty}>
                      {say.emptyTopic}
                    </Menu.Item>
                  )}
                  <DeleteItem onClick={planDelete}>{say.deleteTopic}</DeleteItem>
                </MoreMenu>
              )}
            </>
          )
        }
      />
      <div className="ps-stack">
        <AlertsHere clusterId={clusterId} about={{ area: "topic", name }} />
        {topic?.lease && (
          <LeaseCard
            lease={topic.lease}
            onRestore={
              canWrite
                ? (lease) =>
                    setRequest({ kind: "topic.retention_restore", cluster_id: clusterId, inputs: { name, lease } })
                : undefined
            }
            onExtend={canWrite ? () => setLeasing({}) : undefined}
          />
        )}
        {topic && topic.drift.length > 0 && (
          <Notice tone="warn" title={say.changedOutside}>
            {topic.drift.map((row) => (
              <div key={row.field}>
                {differenceText(row)} {say.changed(<ChangedWhen row={row} />, <ChangedBy row={row} name={row.field} />)}{" "}
                {canWrite && (
                  <Mend
                    clusterId={clusterId}
                    name={row.field}
                    back={row.back?.kind === "reassignment" && !canMove ? null : row.back}
                    backProblem={backProblem(row)}
                    adopt={row.adopt}
                    adoptProblem={adoptProblem(row)}
                    onPlan={setRequest}
                  />
                )}
              </div>
            ))}
          </Notice>
        )}
        {topic ? <Stats items={figures(topic, held)} /> : query.isPending && <StatsSkeleton />}
        <ThroughputCard
          clusterId={clusterId}
          subject={{ of: "topic", topic: name }}
          range={search.range}
          onRange={setRange}
        />
        <Tabs
          value={search.tab ?? "partitions"}
          onChange={(tab) =>
            tab === MESSAGES
              ? void leave({
                  to: "/clusters/$clusterId/topics/$topic/messages",
                  params: { clusterId, topic: name },
                  search: {},
                })
              : void navigate({
                  search: ({ range }) => ({
                    range,
                    tab: TOPIC_TABS.find((item) => item === tab && item !== "partitions"),
                  }),
                  replace: true,
                })
          }
          keepMounted={false}
        >
          <Tabs.List mb={12}>
            <Tabs.Tab value="partitions">{say.partitions}</Tabs.Tab>
            <Tabs.Tab value="clients">{say.clientsAndAccess}</Tabs.Tab>
            <Tabs.Tab value="configuration">{say.configuration}</Tabs.Tab>
            <Tabs.Tab value="analyses">{say.analyses}</Tabs.Tab>
            {query.data?.parts.messages?.data?.browse && <Tabs.Tab value={MESSAGES}>{say.messages}</Tabs.Tab>}
          </Tabs.List>
          <Tabs.Panel value="partitions">
            <div className="ps-stack">
              <PartView query={query} name="topic" rows={7}>
                {(found) => (
                  <PartitionsTab
                    clusterId={clusterId}
                    topic={name}
                    partitions={found.partitions}
                    opened={search.partition}
                    onOpen={(partition) => void navigate({ search: (old) => ({ ...old, partition }) })}
                    range={search.range}
                    onRange={setRange}
                    view={search}
                    onView={(view) => void navigate({ search: (old) => ({ ...old, ...view }), replace: true })}
                  />
                )}
              </PartView>
              <Card
                title={say.whenUnreadRecordsExpire}
                aside={
                  <span style={{ fontSize: "0.75rem" }}>
                    <AsOf
                      at={query.data?.parts.retention.data?.as_of}
                      staleAfter={query.data?.parts.retention.data?.stale_after}
                    />
                  </span>
                }
              >
                <PartView query={query} name="retention" rows={2}>
                  {(gold) => <Expiry gold={gold} topic={name} clusterId={clusterId} />}
                </PartView>
              </Card>
            </div>
          </Tabs.Panel>
          <Tabs.Panel value="analyses">
            <AnalysesTab
              clusterId={clusterId}
              topic={name}
              range={search.range}
              onRange={setRange}
              nowMs={topic ? retentionOf(topic) : null}
              view={search}
              onView={(view) => void navigate({ search: (old) => ({ ...old, ...view }), replace: true })}
              // Only on a topic that is known: a dialog that cannot open now would open by itself later.
              onLease={canWrite && topic ? (retentionS) => setLeasing({ startMs: retentionS * 1000 }) : undefined}
              onChange={
                canWrite
                  ? (retentionS) =>
                      setRequest({
                        kind: "topic.update",
                        cluster_id: clusterId,
                        inputs: { name, configs: { "retention.ms": String(retentionS * 1000) } },
                      })
                  : undefined
              }
            />
          </Tabs.Panel>
          <Tabs.Panel value="clients">
            <ClientsTab clusterId={clusterId} topic={name} />
          </Tabs.Panel>
          <Tabs.Panel value="configuration">
            <ConfigurationTab clusterId={clusterId} topic={name} query={query} canEdit={canWrite} />
          </Tabs.Panel>
        </Tabs>
      </div>
      {topic && (
        <AddPartitions
          opened={adding}
          current={topic.partitions.length}
          onClose={() => setAdding(false)}
          onPlan={(partitions) => {
            setAdding(false);
            setRequest({ kind: "topic.partitions", cluster_id: clusterId, inputs: { name, partitions } });
          }}
        />
      )}
      {topic && leasing && (
        <LeaseForm
          nowMs={retentionOf(topic)}
          startMs={leasing.startMs}
          onClose={() => setLeasing(null)}
          onPlan={(given) => {
            setLeasing(null);
            setRequest({ kind: "topic.retention_lease", cluster_id: clusterId, inputs: { name, ...given } });
          }}
        />
      )}
      <PlanFlow
        request={request}
        title={titleOf(request, name)}
        onClose={() => setRequest(null)}
        leave={
          request?.kind === "topic.delete"
            ? {
                label: say.backToTopics,
                go: () => void leave({ to: "/clusters/$clusterId/topics", params: { clusterId } }),
              }
            : undefined
        }
      />
    </>
  );
}
