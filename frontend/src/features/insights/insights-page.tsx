import { SegmentedControl } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { InsightCard } from "@/components/insight-card";
import { NumberBox } from "@/components/number-box";
import { Lines } from "@/components/card";
import { PageHeader } from "@/components/page-header";
import { ReadinessCard } from "@/components/readiness-card";
import { Refused } from "@/components/refused";
import { RollupChart } from "@/components/rollup-chart";
import { ClusterRollupTable } from "@/components/rollup-table";
import { formatBytes, formatDuration } from "@/lib/format";
import {
  daysAgo,
  useClusterRollups,
  useForecast,
  useHot,
  useImpact,
  useSilent,
  useUnused,
  useUsage,
} from "@/lib/insights";
import { isRefusal } from "@/lib/problem";
import { hasNothing, useReadiness } from "@/lib/readiness";
import { type Span, SPANS, USAGE_DAYS, type UsageSpan } from "@/lib/search";
import { words } from "@/words/insights";
import { Forecast } from "./forecast";
import { ImpactTable } from "./impact-table";
import { HotTable, SilentTable, UnusedTable } from "./topic-tables";
import { UsageTable } from "./usage-table";

const say = words.insightsPage;

const route = getRouteApi("/app/clusters/$clusterId/usage");

const BASE = "/api/v1/clusters/{cluster_id}/analytics";
const GIB = 1024 ** 3;
/** Whose changes are looked at. */
const CHANGES_DAYS = 7;

/** What the cluster holds and costs, when its disks are full, and which topics need a look. */
export function InsightsPage() {
  const { clusterId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const set = (more: Partial<typeof search>) =>
    void navigate({ search: (old) => ({ ...old, ...more }), replace: true });
  const span: Span = search.span ?? "2d";
  const last: UsageSpan = search.last ?? "7d";
  const days = USAGE_DAYS[last];
  const gib = search.capacity;
  const rollups = useClusterRollups(clusterId, span);
  const usage = useUsage(clusterId, days);
  const capacity = gib === undefined ? undefined : Math.round(gib * GIB);
  const forecast = useForecast(clusterId, capacity);
  const hot = useHot(clusterId);
  const silent = useSilent(clusterId);
  const unused = useUnused(clusterId);
  const impact = useImpact(clusterId, CHANGES_DAYS);
  const { data: readiness, isPending } = useReadiness(clusterId);
  const blanks = { cluster_id: clusterId };
  if (isRefusal(usage)) return <Refused error={usage.error} />;
  return (
    <>
      <PageHeader title={say.usageAndForecasts} sub={say.workedOutOfHoursAnd} />
      {isPending ? (
        <Lines rows={4} />
      ) : readiness && hasNothing(readiness) ? (
        <ReadinessCard found={readiness} />
      ) : (
        <div className="ps-stack">
          {readiness && <ReadinessCard found={readiness} />}
          <RollupChart
            title={say.theClusterOverTime}
            about={{ clusterId }}
            file={{
              address: `${BASE}/rollups/cluster`,
              blanks,
              asked: { period: SPANS[span].period, from: daysAgo(SPANS[span].days) },
            }}
            table={(rows, periodS) => <ClusterRollupTable rows={rows} periodS={periodS} />}
            query={rollups}
            span={span}
            onSpan={(value) => set({ span: value === "2d" ? undefined : value })}
            figures={[
              {
                caption: say.bytesHeldOneCopy,
                format: formatBytes,
                lines: [{ name: "held", value: (row) => row.bytes_avg }],
              },
              {
                caption: say.furthestBehind95OfThe,
                format: formatDuration,
                lines: [{ name: "behind", value: (row) => row.lag_seconds_p95 }],
              },
            ]}
          />
          <InsightCard
            title={say.diskForecast}
            query={forecast}
            file={{ address: `${BASE}/disk-forecast`, blanks, asked: { capacity_bytes: capacity } }}
            aside={
              <NumberBox
                w={190}
                label={say.allBrokersDisksGib}
                placeholder={say.allBrokersDisksGib}
                min={1}
                value={gib}
                onChange={(capacity) => set({ capacity })}
              />
            }
            empty={say.itNeedsSomeDaysThat}
          >
            {([row]) => row && <Forecast row={row} />}
          </InsightCard>
          <InsightCard
            title={say.usageAndCost}
            query={usage}
            file={{ address: `${BASE}/usage`, blanks, asked: { from: daysAgo(days) } }}
            aside={
              <SegmentedControl
                size="xs"
                aria-label={say.timeRangeOfUsage}
                data={Object.keys(USAGE_DAYS)}
                value={last}
                onChange={(value) => set({ last: value === "7d" ? undefined : (value as UsageSpan) })}
              />
            }
            empty={say.itNeedsWholeHoursThat}
          >
            {(rows) => <UsageTable rows={rows} clusterId={clusterId} />}
          </InsightCard>
          <InsightCard
            title={say.changeImpact}
            query={impact}
            file={{ address: `${BASE}/change-impact`, blanks, asked: { from: daysAgo(CHANGES_DAYS) } }}
            empty={say.noOperationEndedInThe}
          >
            {(rows) => <ImpactTable rows={rows} clusterId={clusterId} />}
          </InsightCard>
          <InsightCard
            title={say.hotPartitions}
            query={hot}
            file={{ address: `${BASE}/hot-partitions`, blanks }}
            empty={say.noTopicWithMoreThan}
          >
            {(rows) => <HotTable rows={rows} clusterId={clusterId} />}
          </InsightCard>
          <InsightCard
            title={say.silentProducers}
            query={silent}
            file={{ address: `${BASE}/silent-producers`, blanks }}
            empty={say.itComparesAnHourWith}
          >
            {(rows) => <SilentTable rows={rows} clusterId={clusterId} />}
          </InsightCard>
          <InsightCard
            title={say.unusedTopics}
            query={unused}
            file={{ address: `${BASE}/unused-topics`, blanks }}
            empty={say.itNeedsHoursThatWere}
          >
            {(rows) => <UnusedTable rows={rows} clusterId={clusterId} />}
          </InsightCard>
        </div>
      )}
    </>
  );
}
