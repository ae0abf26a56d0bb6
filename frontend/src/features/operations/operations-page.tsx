import { Button, Group, SegmentedControl, Select } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { Card, PartView } from "@/components/card";
import { Empty } from "@/components/empty";
import { OperationList } from "@/components/operation-list";
import { PageHeader } from "@/components/page-header";
import { SearchBox } from "@/components/search-box";
import { kindLabel, OPERATION_KINDS } from "@/lib/kinds";
import { usePageOfList } from "@/lib/page";
import { useOverview } from "@/lib/use-clusters";
import { words } from "@/words/operations";

const say = words.operationsPage;

const route = getRouteApi("/app/operations");

const FILTERS = [
  { value: "all", label: say.all },
  { value: "active", label: say.running },
  { value: "failed", label: say.failed },
];

const REFRESH_MS = 5_000;

/** What the server is asked for. What kinds are called here only the console knows. */
function askOf(search: { q?: string; state?: string; cursor?: string }) {
  const [state, clusterId] = (search.state ?? "").split("@");
  const needle = search.q?.toLowerCase();
  const kinds = needle ? OPERATION_KINDS.filter((kind) => kindLabel(kind).toLowerCase().includes(needle)) : [];
  return {
    q: search.q,
    kinds: kinds.join(",") || undefined,
    state: state || undefined,
    cluster_id: clusterId || undefined,
    cursor: search.cursor,
  };
}

export function OperationsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = usePageOfList("operations", {}, askOf(search), REFRESH_MS);
  const following = query.data?.parts.page.data?.next;
  const overview = useOverview();
  const clusters = overview.data?.parts.clusters.data ?? [];
  const [state, clusterId] = (search.state ?? "").split("@");
  const setFilter = (nextState: string | undefined, nextCluster: string | undefined) => {
    const joined = `${nextState ?? ""}${nextCluster ? `@${nextCluster}` : ""}`;
    void navigate({ search: (old) => ({ ...old, state: joined || undefined, cursor: undefined }), replace: true });
  };
  const goTo = (cursor: string | undefined) => void navigate({ search: (old) => ({ ...old, cursor }) });
  return (
    <>
      <PageHeader title={say.operations} sub={say.everyChangePlannedConfirmed} />
      <Card>
        <div className="ps-toolbar">
          <SearchBox
            value={search.q ?? ""}
            label={say.searchOperations}
            onChange={(q) =>
              void navigate({ search: (old) => ({ ...old, q: q || undefined, cursor: undefined }), replace: true })
            }
          />
          <SegmentedControl
            size="xs"
            aria-label={say.state}
            data={FILTERS}
            value={state || "all"}
            onChange={(value) => setFilter(value === "all" ? undefined : value, clusterId)}
          />
          {clusters.length > 1 && (
            <Select
              size="xs"
              aria-label={say.cluster}
              placeholder={say.allClusters}
              clearable
              data={clusters.map((cluster) => ({ value: cluster.id, label: cluster.name }))}
              value={clusterId ?? null}
              onChange={(value) => setFilter(state, value ?? undefined)}
            />
          )}
        </div>
        <PartView query={query} name="operations" rows={8}>
          {(rows) => (
            <OperationList
              ofMany
              operations={rows}
              empty={
                search.q || search.state || search.cursor ? (
                  <Empty title={say.noOperationMatches}>{say.changeTheSearchOrThe}</Empty>
                ) : undefined
              }
            />
          )}
        </PartView>
        {(search.cursor ?? following) && (
          <Group gap={8} px={14} py={8} justify="flex-end">
            {search.cursor && (
              <Button size="xs" variant="default" onClick={() => goTo(undefined)}>
                {say.newest}
              </Button>
            )}
            {following && (
              <Button size="xs" variant="default" onClick={() => goTo(following)}>
                {say.older}
              </Button>
            )}
          </Group>
        )}
      </Card>
    </>
  );
}
