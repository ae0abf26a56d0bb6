import { Checkbox, Switch } from "@mantine/core";
import { IconPlus, IconStack2 } from "@tabler/icons-react";
import { getRouteApi, Link } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import { lazy, Suspense, useState } from "react";
import { Metered } from "@/components/metered";
import { ButtonLink } from "@/components/button-link";
import { Breakable } from "@/components/breakable";
import { Card, PartView } from "@/components/card";
import { DataTable } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { ExportButton } from "@/components/export-button";
import { PageHeader } from "@/components/page-header";
import { KeptFor, Quantity } from "@/components/quantity";
import { Refused } from "@/components/refused";
import { SearchBox } from "@/components/search-box";
import { Star } from "@/components/star";
import { sparkColumn } from "@/components/spark-column";
import { Status } from "@/components/status";
import { formatInteger } from "@/lib/format";
import { favouritesAsked, useFavourites } from "@/lib/favourites";
import { usePageOfList } from "@/lib/page";
import { sortOf } from "@/lib/search";
import { differenceText } from "@/lib/differences";
import { exportList } from "@/lib/exports";
import { isRefusal } from "@/lib/problem";
import { useMayWrite } from "@/lib/permissions";
import type { TopicRow } from "@/lib/types";
import { words } from "@/words/topics";
import { type BulkAction, BulkBar } from "./bulk-bar";
import { BULK_MAX } from "./bulk-run";

/** Plans of several topics: their code comes when some are chosen, not with the list. */
const BulkDialog = lazy(() => import("./bulk-dialog"));

const say = words.topicsPage;

const route = getRouteApi("/app/clusters/$clusterId/topics");

export function TopicHealth({
  topic,
}: {
  topic: Pick<TopicRow, "offline" | "under_replicated"> & Partial<Pick<TopicRow, "drift">>;
}) {
  if (topic.offline > 0) return <Status tone="bad" label={say.offline(topic.offline)} hint={say.offlineHint} />;
  if (topic.drift && topic.drift.length > 0 && topic.under_replicated === 0)
    return <Status tone="warn" label={say.changedOutside} hint={topic.drift.map(differenceText).join(" ")} />;
  if (topic.under_replicated > 0)
    return <Status tone="warn" label={say.behind(topic.under_replicated)} hint={say.behindHint} />;
  return <Status tone="ok" label={say.inSync} />;
}

const column = createColumnHelper<TopicRow>();
const columns = (clusterId: string, largest: number, choice: Choice) => [
  column.accessor("name", {
    header: say.topic,
    cell: ({ row }) => (
      <>
        {choice.mayWrite(row.original.name) && (
          <Chooser topic={row.original} chosen={choice.chosen} onChoose={choice.onChoose} />
        )}
        <Star about={{ kind: "topic", cluster_id: clusterId, name: row.original.name }} />
        <Link
          to="/clusters/$clusterId/topics/$topic"
          params={{ clusterId, topic: row.original.name }}
          className="ps-link ps-mono"
        >
          <Breakable text={row.original.name} />
        </Link>
        {row.original.internal && (
          <span className="ps-tag" data-tone="muted">
            {say.internal}
          </span>
        )}
      </>
    ),
  }),
  column.accessor((row) => row.offline * 10_000 + row.under_replicated, {
    id: "health",
    header: say.replicas,
    cell: ({ row }) => <TopicHealth topic={row.original} />,
  }),
  column.accessor("partitions", {
    header: say.partitions,
    meta: { align: "right" },
    cell: (cell) => formatInteger(cell.getValue()),
  }),
  column.accessor("replication_factor", {
    header: say.replicationFactor,
    meta: { align: "right", hideBelow: "sm" },
    cell: (cell) => formatInteger(cell.getValue()),
  }),
  sparkColumn<TopicRow>(clusterId, "topic", (row) => row.name),
  column.accessor((row) => row.records ?? null, {
    id: "records",
    header: say.records,
    meta: { align: "right", hideBelow: "md" },
    cell: (cell) => <Quantity of="records" value={cell.getValue()} />,
  }),
  column.accessor((row) => row.size_bytes ?? null, {
    id: "size",
    header: say.size,
    meta: { align: "right", hideBelow: "sm" },
    cell: (cell) => (
      <Metered share={(cell.getValue() ?? 0) / Math.max(1, largest)}>
        <Quantity of="bytes" value={cell.getValue()} />
      </Metered>
    ),
  }),
  column.accessor((row) => row.retention_ms ?? null, {
    id: "retention",
    header: say.keptFor,
    meta: { align: "right", hideBelow: "md" },
    cell: ({ row, getValue }) => <Kept topic={row.original} ms={getValue()} />,
  }),
];

/** The server's orders, which are those columns. */
const SORTS = ["name", "health", "partitions", "replication_factor", "records", "size", "retention"] as const;

interface Choice {
  chosen: string[];
  onChoose: (names: string[]) => void;
  mayWrite: (name: string) => boolean;
}

/** Of a topic that the person may change. Internal topics are the cluster's own. */
function Chooser({ topic, chosen, onChoose }: Omit<Choice, "mayWrite"> & { topic: TopicRow }) {
  const isChosen = chosen.includes(topic.name);
  return (
    <Checkbox
      size="xs"
      mr={6}
      display="inline-block"
      aria-label={say.choose(topic.name)}
      checked={isChosen}
      disabled={topic.internal || (!isChosen && chosen.length >= BULK_MAX)}
      onChange={(event) =>
        onChoose(event.currentTarget.checked ? [...chosen, topic.name] : chosen.filter((name) => name !== topic.name))
      }
    />
  );
}

function Kept({ topic, ms }: { topic: TopicRow; ms: number | null }) {
  const compacted = topic.cleanup_policy?.includes("compact");
  if (compacted && !topic.cleanup_policy?.includes("delete")) return <span className="ps-muted">{say.compacted}</span>;
  return <KeptFor ms={ms} none={<span className="ps-muted">–</span>} />;
}

/** What is chosen is of one cluster: on another, topics of the same names may be there too. */
export function TopicsPage() {
  const { clusterId } = route.useParams();
  return <TopicsOfCluster key={clusterId} clusterId={clusterId} />;
}

function TopicsOfCluster({ clusterId }: { clusterId: string }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMayWrite();
  const favourites = useFavourites();
  const [chosen, setChosen] = useState<string[]>([]);
  const [acting, setActing] = useState<{ action: BulkAction; names: string[] } | null>(null);
  const ask = {
    q: search.q,
    sort: sortOf(search.sort, SORTS),
    page: search.page,
    favourites: favouritesAsked(favourites, "topic", clusterId, search),
    internal: search.internal,
    trouble: search.state === "trouble" || undefined,
  };
  const query = usePageOfList("topics/{cluster_id}", { cluster_id: clusterId }, ask);
  const counts = query.data?.parts.counts.data;
  const create = may("topic", clusterId) && (
    <ButtonLink to="/clusters/$clusterId/new-topic" params={{ clusterId }} leftSection={<IconPlus size={15} />}>
      {say.newTopic}
    </ButtonLink>
  );
  const filtered = search.q !== undefined || search.state !== undefined || search.starred === true;
  if (isRefusal(query)) return <Refused error={query.error} />;
  return (
    <>
      <PageHeader
        title={say.topics}
        seen={query.data?.parts.topics}
        sub={counts && say.topicsAndPartitions(counts.matched, counts.partitions ?? 0)}
        actions={
          <>
            <ExportButton onExport={() => exportList("topics", clusterId, ask)} />
            {create}
          </>
        }
      />
      <Card>
        <div className="ps-toolbar">
          <SearchBox
            value={search.q ?? ""}
            label={say.searchTopics}
            onChange={(q) =>
              void navigate({ search: (old) => ({ ...old, q: q || undefined, page: undefined }), replace: true })
            }
          />
          <Switch
            size="xs"
            label={say.internalTopics}
            checked={search.internal ?? false}
            onChange={(event) => {
              const internal = event.currentTarget.checked || undefined;
              void navigate({
                search: (old) => ({ ...old, internal: internal as true | undefined, page: undefined }),
                replace: true,
              });
            }}
          />
          <Switch
            size="xs"
            label={say.onlyInTrouble}
            checked={search.state === "trouble"}
            onChange={(event) => {
              const state = event.currentTarget.checked ? "trouble" : undefined;
              void navigate({ search: (old) => ({ ...old, state, page: undefined }), replace: true });
            }}
          />
          <Switch
            size="xs"
            label={say.onlyFavourites}
            checked={search.starred ?? false}
            onChange={(event) => {
              const starred = event.currentTarget.checked || undefined;
              void navigate({
                search: (old) => ({ ...old, starred: starred as true | undefined, page: undefined }),
                replace: true,
              });
            }}
          />
        </div>
        <BulkBar
          chosen={chosen}
          onClear={() => setChosen([])}
          onAct={(action) => setActing({ action, names: chosen })}
        />
        <PartView query={query} name="topics" rows={8}>
          {(rows) => (
            <DataTable
              rows={rows}
              paged={counts ?? undefined}
              columns={columns(clusterId, counts?.largest_bytes ?? 0, {
                chosen,
                onChoose: setChosen,
                mayWrite: (name) => may("topic", clusterId, name),
              })}
              rowId={(row) => row.name}
              label={say.topics}
              defaultSort="name"
              view={search}
              onView={(view) => void navigate({ search: (old) => ({ ...old, ...view }), replace: true })}
              empty={
                filtered ? (
                  <Empty title={say.noTopicMatches}>{say.changeTheSearch}</Empty>
                ) : (
                  <Empty icon={<IconStack2 size={20} />} title={say.noTopicsYet} action={create}>
                    {say.whatATopicIs}
                  </Empty>
                )
              }
            />
          )}
        </PartView>
      </Card>
      {acting && (
        <Suspense>
          <BulkDialog
            clusterId={clusterId}
            action={acting.action}
            names={acting.names}
            onClose={() => {
              setActing(null);
              setChosen([]);
            }}
          />
        </Suspense>
      )}
    </>
  );
}
