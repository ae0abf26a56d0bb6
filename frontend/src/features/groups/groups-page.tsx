import { Switch } from "@mantine/core";
import { IconUsersGroup } from "@tabler/icons-react";
import { getRouteApi } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import { AsOf } from "@/components/as-of";
import { BrokerLink } from "@/components/broker-link";
import { GroupLink } from "@/components/group-link";
import { Metered } from "@/components/metered";
import { Card, PartView } from "@/components/card";
import { DataTable } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { ExportButton } from "@/components/export-button";
import { PageHeader } from "@/components/page-header";
import { Quantity } from "@/components/quantity";
import { Refused } from "@/components/refused";
import { SearchBox } from "@/components/search-box";
import { sparkColumn } from "@/components/spark-column";
import { Star } from "@/components/star";
import { GroupState } from "@/components/status";
import { formatInteger } from "@/lib/format";
import { worstByGroup } from "@/lib/lag";
import { favouritesAsked, useFavourites } from "@/lib/favourites";
import { usePageOfList } from "@/lib/page";
import { sortOf } from "@/lib/search";
import { exportList } from "@/lib/exports";
import { isRefusal } from "@/lib/problem";
import type { GroupRow, LagPoint } from "@/lib/types";
import { words } from "@/words/groups";
import { HarmStatus, isWorthASentence } from "./diagnosis";
import { UnreadOfGroup } from "./unread";

const say = words.groupsPage;

const route = getRouteApi("/app/clusters/$clusterId/groups");

type Row = GroupRow & { verdict?: LagPoint };

const column = createColumnHelper<Row>();
const columns = (clusterId: string, top: number) => [
  column.accessor("group", {
    header: say.group,
    cell: ({ row }) => (
      <>
        <Star about={{ kind: "group", cluster_id: clusterId, name: row.original.group }} />
        <GroupLink clusterId={clusterId} group={row.original.group} />
        {isWorthASentence(row.original.diagnosis) && (
          <small className="ps-muted ps-second">{row.original.diagnosis.text}</small>
        )}
      </>
    ),
  }),
  column.accessor("state", {
    header: say.state,
    meta: { hideBelow: "sm" },
    cell: (cell) => <GroupState state={cell.getValue()} />,
  }),
  column.accessor((row) => row.diagnosis.severity, {
    id: "verdict",
    header: say.status,
    cell: ({ row }) => <HarmStatus diagnosis={row.original.diagnosis} />,
  }),
  sparkColumn<Row>(clusterId, "group", (row) => row.group),
  column.accessor("members", {
    header: say.members,
    meta: { align: "right", hideBelow: "sm" },
    cell: (cell) => formatInteger(cell.getValue()),
  }),
  column.accessor((row) => row.unread_at_most ?? row.lag ?? -1, {
    id: "lag",
    header: say.lag,
    meta: { align: "right" },
    cell: ({ row }) => (
      <Metered share={Math.max(0, row.original.lag ?? 0) / Math.max(1, top)}>
        <UnreadOfGroup row={row.original} />
      </Metered>
    ),
  }),
  column.accessor((row) => row.verdict?.lag_seconds ?? null, {
    id: "seconds",
    header: say.behindBy,
    meta: { align: "right", hideBelow: "sm" },
    cell: ({ row }) => <Behind point={row.original.verdict} />,
  }),
  column.accessor((row) => row.coordinator ?? -1, {
    id: "coordinator",
    header: say.coordinator,
    meta: { align: "right", hideBelow: "md" },
    cell: ({ row }) =>
      row.original.coordinator === null ? (
        <span className="ps-muted">–</span>
      ) : (
        <BrokerLink clusterId={clusterId} id={row.original.coordinator} />
      ),
  }),
];

/** The server's orders, which are those columns. */
const SORTS = ["group", "state", "verdict", "members", "lag", "seconds", "coordinator"] as const;
/** By the URL's `state`. */
const FILTERS = [
  ["trouble", say.onlyInTrouble],
  ["lagging", say.onlyWithLag],
] as const;

/** Time lag; a lower bound is shown as one. */
export function Behind({ point }: { point: LagPoint | undefined }) {
  if (!point) return <span className="ps-muted">–</span>;
  if (point.lag_seconds !== null) return <Quantity of="span" value={point.lag_seconds} />;
  if (point.lag_seconds_at_least)
    return (
      <>
        ≥ <Quantity of="span" value={point.lag_seconds_at_least} />
      </>
    );
  return <span className="ps-muted">–</span>;
}

export function GroupsPage() {
  const { clusterId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const favourites = useFavourites();
  const ask = {
    q: search.q,
    sort: sortOf(search.sort, SORTS),
    page: search.page,
    favourites: favouritesAsked(favourites, "group", clusterId, search),
    lagging: search.state === "lagging" || undefined,
    trouble: search.state === "trouble" || undefined,
  };
  const query = usePageOfList("groups/{cluster_id}", { cluster_id: clusterId }, ask);
  const gold = query.data?.parts.lag.data;
  const verdicts = worstByGroup(gold?.data ?? []);
  const counts = query.data?.parts.counts.data;
  const rows: Row[] = (query.data?.parts.groups.data ?? []).map((group) => ({
    ...group,
    verdict: verdicts.get(group.group),
  }));
  if (isRefusal(query)) return <Refused error={query.error} />;
  return (
    <>
      <PageHeader
        title={say.consumerGroups}
        actions={<ExportButton onExport={() => exportList("groups", clusterId, ask)} />}
        seen={query.data?.parts.groups}
        sub={
          counts &&
          (gold?.as_of
            ? say.measured(counts.matched, <AsOf at={gold.as_of} staleAfter={gold.stale_after} />)
            : say.notMeasuredYet(counts.matched))
        }
      />
      <Card>
        <div className="ps-toolbar">
          <SearchBox
            value={search.q ?? ""}
            label={say.searchGroups}
            onChange={(q) =>
              void navigate({ search: (old) => ({ ...old, q: q || undefined, page: undefined }), replace: true })
            }
          />
          {FILTERS.map(([state, label]) => (
            <Switch
              key={state}
              size="xs"
              label={label}
              checked={search.state === state}
              onChange={(event) => {
                const next = event.currentTarget.checked ? state : undefined;
                void navigate({ search: (old) => ({ ...old, state: next, page: undefined }), replace: true });
              }}
            />
          ))}
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
        <PartView query={query} name="groups" rows={6}>
          {() => (
            <DataTable
              rows={rows}
              paged={counts ?? undefined}
              columns={columns(clusterId, counts?.largest_lag ?? 0)}
              rowId={(row) => row.group}
              label={say.consumerGroups}
              defaultSort="-verdict"
              view={search}
              onView={(view) => void navigate({ search: (old) => ({ ...old, ...view }), replace: true })}
              empty={
                search.q || search.state || search.starred ? (
                  <Empty title={say.noGroupMatches}>{say.changeTheSearch}</Empty>
                ) : (
                  <Empty icon={<IconUsersGroup size={20} />} title={say.noGroupsYet}>
                    {say.whenAGroupAppears}
                  </Empty>
                )
              }
            />
          )}
        </PartView>
      </Card>
    </>
  );
}
