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
import { formatInteger, plural } from "@/lib/format";
import { endangered, furthestBehind, isInTrouble, lossExactly, lossIn, newest, totalByGroup } from "@/lib/lag";
import { type PageModel, usePage } from "@/lib/page";
import { toProblem } from "@/lib/problem";
import { RANGES, type Range } from "@/lib/search";
import { useSession } from "@/lib/session";
import type { AnalyticsRun, Lag, LagPoint, Retention } from "@/lib/types";
import { LagTable } from "./lag-table";
import { RetentionTable } from "./retention-table";

const route = getRouteApi("/app/clusters/$clusterId/analytics");

function figures(lag: Lag | null | undefined, retention: Retention | null | undefined): Stat[] {
  const now = newest(lag?.data ?? []);
  const groups = new Set(now.map((point) => point.group));
  const bad = new Set(now.filter(isInTrouble).map((point) => point.group));
  const first = endangered((retention?.data ?? []).flatMap((row) => row.groups))[0];
  const known = lag?.as_of !== null && lag !== null && lag !== undefined;
  if (!known)
    return ["Groups followed", "Groups in trouble", "Lag", "Furthest behind", "First unread loss", "Data held"].map(
      (label) => ({ label, value: "–", note: "after the first run" }),
    );
  return [
    {
      label: "Groups followed",
      value: formatInteger(groups.size),
      note: plural(new Set(now.map((point) => point.topic)).size, "topic"),
    },
    {
      label: "Groups in trouble",
      value: formatInteger(bad.size),
      tone: bad.size > 0 ? "warn" : undefined,
      note: bad.size > 0 ? [...bad].slice(0, 2).join(", ") : "all keep pace",
    },
    {
      label: "Lag",
      value: formatInteger(now.reduce((sum, point) => sum + (point.lag_records ?? 0), 0)),
      note: "over all groups",
    },
    { label: "Furthest behind", value: <Furthest points={now} />, note: "the slowest group" },
    {
      label: "First unread loss",
      value: first ? <Exact text={lossExactly(first)}>{lossIn(first)}</Exact> : "–",
      tone: first && (RISK_SEVERITY[first.status] === "danger" ? "bad" : "warn"),
      note: first ? `${first.group}, at its present pace` : "no group is in danger",
    },
    {
      label: "Data held",
      value: (
        <Quantity of="bytes" value={(retention?.data ?? []).reduce((sum, row) => sum + (row.bytes ?? 0), 0)} isKey />
      ),
      note: "leaders' copies",
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
      notifications.show({ title: "Analytics run started", message: "Results appear here when it has finished." });
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
      Run now
    </Button>
  );
}

const RUN_TONES = { queued: "muted", succeeded: "ok", failed: "bad", running: "run", cancelled: "warn" } as const;

/** What of the cluster's telemetry the run looked for and did not find; null when nothing. */
function gapOf(run: AnalyticsRun, clusterId: string): string | null {
  const mine = run.clusters.find((cluster) => cluster.cluster_id === clusterId);
  if (mine?.telemetry_recreated) return "telemetry topic made again";
  if (!mine?.records_skipped) return null;
  return `${formatInteger(mine.records_skipped)} telemetry records missing`;
}

function Runs({ runs, clusterId }: { runs: AnalyticsRun[]; clusterId: string }) {
  if (runs.length === 0)
    return <Empty title="No run yet">Runs start by themselves every few minutes once a cluster has telemetry.</Empty>;
  return (
    <div className="ps-table-wrap">
      <table className="ps-table" aria-label="Analytics runs">
        <thead>
          <tr>
            <th scope="col">Started</th>
            <th scope="col">State</th>
            <th scope="col" data-align="right">
              Took
            </th>
            <th scope="col" className="ps-hide-sm">
              Run
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
        title="Lag and retention"
        sub={
          <>
            Worked out by Spark from the sampled offsets
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
          <Notice tone="info">
            Groups are unknown until there are samples enough for a trend; the first run that can judge them is due{" "}
            <RelTime at={firstVerdictAt} />.
          </Notice>
        )}
        {query.isPending ? (
          <StatsSkeleton count={6} />
        ) : (
          <Stats items={figures(parts?.lag.data, parts?.retention.data)} />
        )}
        <Card
          title="Lag by group"
          aside={
            <SegmentedControl
              size="xs"
              aria-label="Time range"
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
              <Empty icon={<IconChartHistogram size={20} />} title="No history in this range yet">
                Offsets are sampled every few seconds; the next Spark run turns them into history.
              </Empty>
            ) : (
              <TimeChart series={series} label="Lag by group over time" height={260} about={{ clusterId }} />
            )}
          </div>
        </Card>
        <Card title="Groups">
          <PartView query={query} name="lag">
            {(gold) => <LagTable gold={gold} clusterId={clusterId} />}
          </PartView>
        </Card>
        <Card title="Topics: what is held, and when unread records expire">
          <PartView query={query} name="retention">
            {(gold) => <RetentionTable gold={gold} clusterId={clusterId} />}
          </PartView>
        </Card>
        <Card title="Runs">
          <PartView query={query} name="runs">
            {(runs) => <Runs clusterId={clusterId} runs={runs} />}
          </PartView>
        </Card>
      </div>
    </>
  );
}
