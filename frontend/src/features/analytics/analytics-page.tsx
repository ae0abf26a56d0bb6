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
import { type Stat, Stats, StatsSkeleton } from "@/components/stats";
import { Status } from "@/components/status";
import { RISK_SEVERITY } from "@/generated/constants";
import { useLag } from "@/lib/analytics";
import { api } from "@/lib/api-client";
import { formatInteger } from "@/lib/format";
import { endangered, furthestBehind, isInTrouble, lossExactly, lossIn, newest, totalByGroup } from "@/lib/lag";
import { type PageModel, usePage } from "@/lib/page";
import { toProblem } from "@/lib/problem";
import { RANGES, type Range } from "@/lib/search";
import { useSession } from "@/lib/session";
import type { AnalyticsRun, Lag, LagPoint, Retention } from "@/lib/types";
import { words } from "@/words/analytics";
import { LagTable } from "./lag-table";
import { RetentionTable } from "./retention-table";

const say = words.analyticsPage;

const route = getRouteApi("/app/clusters/$clusterId/analytics");

function figures(lag: Lag | null | undefined, retention: Retention | null | undefined): Stat[] {
  const now = newest(lag?.data ?? []);
  const groups = new Set(now.map((point) => point.group));
  const bad = new Set(now.filter(isInTrouble).map((point) => point.group));
  const first = endangered((retention?.data ?? []).flatMap((row) => row.groups))[0];
  const known = lag?.as_of !== null && lag !== null && lag !== undefined;
  if (!known)
    return [
      say.groupsFollowed,
      say.groupsInTrouble,
      say.lag,
      say.furthestBehind,
      say.firstUnreadLoss,
      say.dataHeld,
    ].map((label) => ({ label, value: "–", note: say.afterTheFirstRun }));
  return [
    {
      label: say.groupsFollowed,
      value: formatInteger(groups.size),
      note: say.topics(new Set(now.map((point) => point.topic)).size),
    },
    {
      label: say.groupsInTrouble,
      value: formatInteger(bad.size),
      tone: bad.size > 0 ? "warn" : undefined,
      note: bad.size > 0 ? [...bad].slice(0, 2).join(", ") : say.allKeepPace,
    },
    {
      label: say.lag,
      value: formatInteger(now.reduce((sum, point) => sum + (point.lag_records ?? 0), 0)),
      note: say.overAllGroups,
    },
    { label: say.furthestBehind, value: <Furthest points={now} />, note: say.theSlowestGroup },
    {
      label: say.firstUnreadLoss,
      value: first ? <Exact text={lossExactly(first)}>{lossIn(first)}</Exact> : "–",
      tone: first && (RISK_SEVERITY[first.status] === "danger" ? "bad" : "warn"),
      note: first ? say.atItsPresentPace(first.group) : say.noGroupIsInDanger,
    },
    {
      label: say.dataHeld,
      value: (
        <Quantity of="bytes" value={(retention?.data ?? []).reduce((sum, row) => sum + (row.bytes ?? 0), 0)} isKey />
      ),
      note: say.leadersCopies,
    },
  ];
}

/** "≥" where only a lower bound is known. */
function Furthest({ points }: { points: LagPoint[] }) {
  const most = furthestBehind(points);
  return (
    <>
      {most && !most.exact && "≥ "}
      <Quantity of="span" value={most?.seconds} none="–" isKey />
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

const RUN_TONES = { queued: "muted", succeeded: "ok", failed: "bad", running: "run", cancelled: "warn" } as const;

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
                <Status tone={RUN_TONES[run.state]} label={run.state} pulse={run.state === "running"} />
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
  const query = usePage("analytics/{cluster_id}", { cluster_id: clusterId }, pace);
  const history = useLag(clusterId, range);
  const parts = query.data?.parts;
  const runId = parts?.lag.data?.run_id;
  const client = useQueryClient();
  useEffect(() => {
    if (runId) void client.invalidateQueries({ queryKey: ["analytics", clusterId] });
  }, [client, clusterId, runId]);
  const series = useMemo(() => totalByGroup(history.data?.data ?? []), [history.data]);
  const newest = parts?.lag.data?.as_of ? parts.lag.data : history.data;
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
          <Stats items={figures(parts?.lag.data, parts?.retention.data)} />
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
              <TimeChart series={series} label={say.lagByGroupOver} height={260} about={{ clusterId }} />
            )}
          </div>
        </Card>
        <Card title={say.groups}>
          <PartView query={query} name="lag">
            {(gold) => <LagTable gold={gold} clusterId={clusterId} />}
          </PartView>
        </Card>
        <Card title={say.topicsWhatIsHeldAnd}>
          <PartView query={query} name="retention">
            {(gold) => <RetentionTable gold={gold} clusterId={clusterId} />}
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
