import { NumberInput, SegmentedControl } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { InsightCard } from "@/components/insight-card";
import { PageHeader } from "@/components/page-header";
import { Refused } from "@/components/refused";
import { RollupChart } from "@/components/rollup-chart";
import { formatBytes, formatDuration } from "@/lib/format";
import {
  type Span,
  useClusterRollups,
  useForecast,
  useHot,
  useImpact,
  useSilent,
  useUnused,
  useUsage,
} from "@/lib/insights";
import { isRefusal } from "@/lib/problem";
import { Forecast } from "./forecast";
import { ImpactTable } from "./impact-table";
import { HotTable, SilentTable, UnusedTable } from "./topic-tables";
import { UsageTable } from "./usage-table";

const route = getRouteApi("/app/clusters/$clusterId/usage");

const BASE = "/api/v1/clusters/{cluster_id}/analytics";
const GIB = 1024 ** 3;
/** Whose changes are looked at. */
const CHANGES_DAYS = 7;
const DAYS = { "1d": 1, "7d": 7, "30d": 30 } as const;

/** What the cluster holds and costs, when its disks are full, and which topics need a look. */
export function InsightsPage() {
  const { clusterId } = route.useParams();
  const [span, setSpan] = useState<Span>("2d");
  const [days, setDays] = useState<keyof typeof DAYS>("7d");
  const [gib, setGib] = useState<number | string>("");
  const rollups = useClusterRollups(clusterId, span);
  const usage = useUsage(clusterId, DAYS[days]);
  const forecast = useForecast(clusterId, typeof gib === "number" && gib > 0 ? Math.round(gib * GIB) : undefined);
  const hot = useHot(clusterId);
  const silent = useSilent(clusterId);
  const unused = useUnused(clusterId);
  const impact = useImpact(clusterId, CHANGES_DAYS);
  const blanks = { cluster_id: clusterId };
  if (isRefusal(usage)) return <Refused error={usage.error} />;
  return (
    <>
      <PageHeader title="Usage and forecasts" sub="Worked out of hours and days that were rolled up by Spark." />
      <div className="ps-stack">
        <RollupChart
          title="The cluster over time"
          query={rollups}
          span={span}
          onSpan={setSpan}
          figures={[
            {
              caption: "Bytes held, one copy",
              format: formatBytes,
              lines: [{ name: "held", value: (row) => row.bytes_avg }],
            },
            {
              caption: "Furthest behind, 95 % of the time at most",
              format: formatDuration,
              lines: [{ name: "behind", value: (row) => row.lag_seconds_p95 }],
            },
          ]}
        />
        <InsightCard
          title="Disk forecast"
          query={forecast}
          file={{ address: `${BASE}/disk-forecast`, blanks }}
          aside={
            <NumberInput
              size="xs"
              w={190}
              aria-label="All brokers' disks, GiB"
              placeholder="All brokers' disks, GiB"
              min={1}
              value={gib}
              onChange={setGib}
            />
          }
          empty="It needs some days that were rolled up."
        >
          {([row]) => row && <Forecast row={row} />}
        </InsightCard>
        <InsightCard
          title="Usage and cost"
          query={usage}
          file={{ address: `${BASE}/usage`, blanks }}
          aside={
            <SegmentedControl
              size="xs"
              aria-label="Time range of usage"
              data={Object.keys(DAYS)}
              value={days}
              onChange={(value) => setDays(value as keyof typeof DAYS)}
            />
          }
          empty="It needs whole hours that were sampled."
        >
          {(rows) => <UsageTable rows={rows} clusterId={clusterId} />}
        </InsightCard>
        <InsightCard
          title="Change impact"
          query={impact}
          file={{ address: `${BASE}/change-impact`, blanks }}
          empty="No operation ended in the last week, or its hours are not rolled up yet."
        >
          {(rows) => <ImpactTable rows={rows} clusterId={clusterId} />}
        </InsightCard>
        <InsightCard
          title="Hot partitions"
          query={hot}
          file={{ address: `${BASE}/hot-partitions`, blanks }}
          empty="No topic with more than one partition was written in the last day."
        >
          {(rows) => <HotTable rows={rows} clusterId={clusterId} />}
        </InsightCard>
        <InsightCard
          title="Silent producers"
          query={silent}
          file={{ address: `${BASE}/silent-producers`, blanks }}
          empty="It compares an hour with the same hour of earlier days."
        >
          {(rows) => <SilentTable rows={rows} clusterId={clusterId} />}
        </InsightCard>
        <InsightCard
          title="Unused topics"
          query={unused}
          file={{ address: `${BASE}/unused-topics`, blanks }}
          empty="It needs hours that were sampled."
        >
          {(rows) => <UnusedTable rows={rows} clusterId={clusterId} />}
        </InsightCard>
      </div>
    </>
  );
}
