import { Button, SegmentedControl } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconChartHistogram, IconPlayerPlay } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import { AsOf } from "@/components/as-of";
import { Card, PartView } from "@/components/card";
import { TimeChart } from "@/components/charts/time-chart";
import { Empty } from "@/components/empty";
import { Notice } from "@/components/notice";
import { PageHeader } from "@/components/page-header";
import { ProblemPanel } from "@/components/problem-panel";
import { Exact, Quantity } from "@/components/quantity";
import { RelTime } from "@/components/rel-time";
import { RunStatus } from "@/components/run-status";
import { type Stat, Stats, StatsSkeleton } from "@/components/stats";
import { RISK_SEVERITY } from "@/generated/constants";
import { api } from "@/lib/api-client";
import { useChart } from "@/lib/charts";
import { formatInteger } from "@/lib/format";
import { linesByGroup, lossExactly, lossIn } from "@/lib/lag";
import { type PageModel, usePageOfList } from "@/lib/page";
import { toProblem } from "@/lib/problem";
import { RANGES, type Range, sortOf } from "@/lib/search";
import { useSession } from "@/lib/session";
import type { AnalyticsRun, LagCounts, RetentionCounts } from "@/lib/types";
import { words } from "@/words/analytics";
import { LAG_SORTS, LagTable } from "./lag-table";
import { RETENTION_SORTS, RetentionTable } from "./retention-table";

const say = words.analyticsPage;

const route = getRouteApi("/app/clusters/$clusterId/analytics");

const unknown = (): Stat[] =>
  [say.groupsFollowed, say.groupsInTrouble, say.lag, say.furthestBehind, say.firstUnreadLoss, say.dataHeld].map(
    (label) => ({ label, value: "–", note: say.afterTheFirstRun }),
  );

/** What of a part is not known right now is said so. */
const missing = (label: string): Stat => ({ label, value: "–" });

function ofLag(lag: LagCounts | null | undefined): Stat[] {
  if (!lag) return [say.groupsFollowed, say.groupsInTrouble, say.lag, say.furthestBehind].map(missing);
  return [
    { label: say.groupsFollowed, value: formatInteger(lag.groups), note: say.topics(lag.topics) },
    {
      label: say.groupsInTrouble,
      value: formatInteger(lag.in_trouble),
      tone: lag.in_trouble > 0 ? "warn" : undefined,
      note: lag.in_trouble > 0 ? lag.troubled.join(", ") : say.allKeepPace,
    },
    { label: say.lag, value: formatInteger(lag.lag_records), note: say.overAllGroups },
    { label: say.furthestBehind, value: <Furthest lag={lag} />, note: say.theSlowestGroup },
  ];
}

function ofRetention(retention: RetentionCounts | null | undefined): Stat[] {
  if (!retention) return [say.firstUnreadLoss, say.dataHeld].map(missing);
  const first = retention.first_loss;
  return [
    {
      label: say.firstUnreadLoss,
      value: first ? <Exact text={lossExactly(first)}>{lossIn(first)}</Exact> : "–",
      tone: first ? (RISK_SEVERITY[first.status] === "danger" ? "bad" : "warn") : undefined,
      note: first ? say.atItsPresentPace(first.group) : say.noGroupIsInDanger,
    },
    {
      label: say.dataHeld,
      value: <Quantity of="bytes" value={retention.bytes} none="–" isKey />,
      note: say.leadersCopies,
    },
  ];
}

/** "≥" where only a lower bound is known. */
function Furthest({ lag }: { lag: LagCounts }) {
  return (
    <>
      {!lag.behind_is_exact && "≥ "}
      <Quantity of="span" value={lag.behind_s} none="–" isKey />
    </>
  );
}

function RunNow() {
  const client = useQueryClient();
  const run = useMutation({
    mutationFn: () => api.post("/api/v1/analytics/runs", {}),
    onSuccess: () => {
      notifications.show({ title: say.analyticsRunStarted, message: say.resultsAppearHereWhenIt });
      return client.invalidateQueries({ queryKey: ["page", "analytics"] });
    },
    onError: (error) => {
      const problem = toProblem(error);
      notifications.show({ color: "red", title: problem.title, message: problem.detail ?? "" });
    },
  });
  return (
    <Button
      variant="default"
      leftSection={<IconPlayerPlay size={15} />}
      loading={run.isPending}
      onClick={() => run.mutate()}
    >
      {say.runNow}
    </Button>
  );
}

/** What of the cluster's telemetry the run looked for and did not find; null when nothing. */
function gapOf(run: AnalyticsRun, clusterId: string): string | null {
  const mine = run.clusters.find((cluster) => cluster.cluster_id === clusterId);
  if (mine?.telemetry_recreated) return say.telemetryTopicMadeAgain;
  if (!mine?.records_skipped) return null;
  return say.telemetryRecordsMissing(mine.records_skipped);
}

function Runs({ runs, clusterId }: { runs: AnalyticsRun[]; clusterId: string }) {
  if (runs.length === 0) return <Empty title={say.noRunYet}>{say.runsStartByThemselvesEvery}</Empty>;
  return (
    <div className="ps-table-wrap">
      <table className="ps-table" aria-label={say.analyticsRuns}>
        <thead>
          <tr>
            <th scope="col">{say.started}</th>
            <th scope="col">{say.state}</th>
            <th scope="col" data-align="right">
              {say.took}
            </th>
            <th scope="col" className="ps-hide-sm">
              {say.run}
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.slice(0, 8).map((run) => (
            <tr key={run.id}>
              <td>
                <RelTime at={run.started_at ?? run.created_at} />
              </td>
              <td title={run.error || undefined}>
                <RunStatus state={run.state} />
                {gapOf(run, clusterId) && <div className="ps-warn">{gapOf(run, clusterId)}</div>}
              </td>
              <td data-align="right">
                <Quantity of="span" value={run.wall_s} />
              </td>
              <td className="ps-mono ps-muted ps-hide-sm">{run.id}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A run under way is watched; otherwise nothing changes for minutes. */
const pace = (page: PageModel<"analytics/{cluster_id}"> | undefined): number =>
  page?.parts.runs.data?.some((run) => run.state === "queued" || run.state === "running") ? 3_000 : 30_000;

export function AnalyticsPage() {
  const { clusterId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: session } = useSession();
  const range: Range = search.range ?? "1h";
  const ask = {
    sort: sortOf(search.sort, LAG_SORTS),
    page: search.page,
    topics_sort: sortOf(search.tsort, RETENTION_SORTS),
    topics_page: search.tpage,
  };
  const query = usePageOfList("analytics/{cluster_id}", { cluster_id: clusterId }, ask, pace);
  const history = useChart(clusterId, "lag_records", range);
  const parts = query.data?.parts;
  const runId = parts?.lag.data?.run_id;
  const client = useQueryClient();
  useEffect(() => {
    if (runId) void client.invalidateQueries({ queryKey: ["analytics", clusterId] });
  }, [client, clusterId, runId]);
  const series = useMemo(() => (history.data ? linesByGroup(history.data) : []), [history.data]);
  const newest = parts?.lag.data;
  const firstVerdictAt = parts?.collector.data?.first_verdict_due_at;
  return (
    <>
      <PageHeader
        title={say.lagAndRetention}
        sub={
          <>
            {say.workedOutBySparkFrom}
            {newest?.as_of ? (
              <>
                , <AsOf at={newest.as_of} staleAfter={newest.stale_after} />.
              </>
            ) : (
              "."
            )}
          </>
        }
        actions={session?.can_write_tenant && <RunNow />}
      />
      <div className="ps-stack">
        {firstVerdictAt && (
          <Notice tone="info">{say.groupsAreUnknownUntilThere(<RelTime at={firstVerdictAt} />)}</Notice>
        )}
        {query.isPending ? (
          <StatsSkeleton count={6} />
        ) : (
          <Stats
            items={
              parts?.lag.data?.as_of
                ? [...ofLag(parts.lag_counts.data), ...ofRetention(parts.retention_counts.data)]
                : unknown()
            }
          />
        )}
        <Card
          title={say.lagByGroup}
          aside={
            <SegmentedControl
              size="xs"
              aria-label={say.timeRange}
              data={Object.keys(RANGES)}
              value={range}
              onChange={(value) =>
                void navigate({
                  search: (old) => ({ ...old, range: value === "1h" ? undefined : (value as Range) }),
                  replace: true,
                })
              }
            />
          }
        >
          <div className="ps-card-body">
            {history.isError && !history.data ? (
              <ProblemPanel error={history.error} onRetry={() => void history.refetch()} />
            ) : series.length === 0 && !history.isPending ? (
              <Empty icon={<IconChartHistogram size={20} />} title={say.noHistoryInThisRange}>
                {say.offsetsAreSampledEveryFew}
              </Empty>
            ) : (
              <>
                <TimeChart series={series} label={say.lagByGroupOver} height={260} about={{ clusterId }} />
                {history.data?.complete === false && <p className="ps-muted">{say.highestOnly(series.length)}</p>}
              </>
            )}
          </div>
        </Card>
        <Card title={say.groups}>
          <PartView query={query} name="lag">
            {(gold) => (
              <LagTable
                gold={gold}
                counts={parts?.lag_counts.data}
                clusterId={clusterId}
                view={search}
                onView={({ sort, page }) =>
                  void navigate({ search: (old) => ({ ...old, sort, page }), replace: true, resetScroll: false })
                }
              />
            )}
          </PartView>
        </Card>
        <Card title={say.topicsWhatIsHeldAnd}>
          <PartView query={query} name="retention">
            {(gold) => (
              <RetentionTable
                gold={gold}
                counts={parts?.retention_counts.data}
                clusterId={clusterId}
                view={{ sort: search.tsort, page: search.tpage }}
                onView={({ sort, page }) =>
                  void navigate({
                    search: (old) => ({ ...old, tsort: sort, tpage: page }),
                    replace: true,
                    resetScroll: false,
                  })
                }
              />
            )}
          </PartView>
        </Card>
        <Card title={say.runs}>
          <PartView query={query} name="runs">
            {(runs) => <Runs clusterId={clusterId} runs={runs} />}
          </PartView>
        </Card>
      </div>
    </>
  );
}
