import { SegmentedControl, Select } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { Card, PartView } from "@/components/card";
import { Empty } from "@/components/empty";
import { OperationList } from "@/components/operation-list";
import { PageHeader } from "@/components/page-header";
import { SearchBox } from "@/components/search-box";
import { kindLabel } from "@/lib/kinds";
import { TERMINAL } from "@/lib/operations";
import { usePage } from "@/lib/page";
import type { Operation } from "@/lib/types";
import { useOverview } from "@/lib/use-clusters";
import { words } from "@/words/operations";

const say = words.operationsPage;

const route = getRouteApi("/app/operations");

const FILTERS = [
  { value: "all", label: say.all },
  { value: "active", label: say.running },
  { value: "failed", label: say.failed },
];

function matches(operation: Operation, state: string | undefined, needle: string): boolean {
  if (state === "active" && TERMINAL.has(operation.state)) return false;
  if (state === "failed" && operation.state !== "failed") return false;
  const text = `${operation.id} ${kindLabel(operation.kind)} ${operation.resource ?? ""} ${operation.actor ?? ""}`;
  return text.toLowerCase().includes(needle);
}

export function OperationsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = usePage("operations", {}, 5_000);
  const overview = useOverview();
  const clusters = overview.data?.parts.clusters.data ?? [];
  const needle = search.q?.toLowerCase() ?? "";
  const [state, clusterId] = (search.state ?? "").split("@");
  const setFilter = (nextState: string | undefined, nextCluster: string | undefined) => {
    const joined = `${nextState ?? ""}${nextCluster ? `@${nextCluster}` : ""}`;
    void navigate({ search: (old) => ({ ...old, state: joined || undefined, page: undefined }), replace: true });
  };
  return (
    <>
      <PageHeader title={say.operations} sub={say.everyChangePlannedConfirmed} />
      <Card>
        <div className="ps-toolbar">
          <SearchBox
            value={search.q ?? ""}
            label={say.searchOperations}
            onChange={(q) =>
              void navigate({ search: (old) => ({ ...old, q: q || undefined, page: undefined }), replace: true })
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
              operations={rows.filter(
                (row) => matches(row, state, needle) && (!clusterId || row.cluster_id === clusterId),
              )}
              view={search}
              onView={(view) => void navigate({ search: (old) => ({ ...old, ...view }), replace: true })}
              empty={
                rows.length > 0 ? <Empty title={say.noOperationMatches}>{say.changeTheSearchOrThe}</Empty> : undefined
              }
            />
          )}
        </PartView>
      </Card>
    </>
  );
}
