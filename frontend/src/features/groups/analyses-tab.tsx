import { Button } from "@mantine/core";
import { useState } from "react";
import { InsightCard } from "@/components/insight-card";
import { MeasureChart } from "@/components/measure-chart";
import { ObjectiveForm } from "@/components/objective-form";
import { ObjectiveTable } from "@/components/objective-table";
import { RollupChart } from "@/components/rollup-chart";
import { GroupRollupTable } from "@/components/rollup-table";
import { formatDuration } from "@/lib/format";
import { daysAgo, type GroupRollup, useGroupRollups, useObjectives } from "@/lib/insights";
import { type ChartRange, type Span, SPANS } from "@/lib/search";
import { useSession } from "@/lib/session";
import { words } from "@/words/groups";

const say = words.analysesTab;

const ROLLUPS = "/api/v1/clusters/{cluster_id}/analytics/rollups/groups";
const OBJECTIVES = "/api/v1/clusters/{cluster_id}/analytics/lag-objectives";

interface AnalysesTabProps {
  clusterId: string;
  group: string;
  span: Span;
  onSpan: (span: Span) => void;
  range: ChartRange;
  onRange: (range: ChartRange) => void;
}

/** How late the group was by hours or days, and how fast it uses up the time that it may be late. */
export function AnalysesTab({ clusterId, group, span, onSpan, range, onRange }: AnalysesTabProps) {
  const canWrite = useSession().data?.can_write_tenant === true;
  const [setting, setSetting] = useState(false);
  const objectives = useObjectives(clusterId, group);
  const rollups = useGroupRollups(clusterId, group, span);
  const topics = [...new Set((rollups.data?.data ?? []).map((row) => row.topic))];
  return (
    <div className="ps-stack">
      <MeasureChart
        title={say.behindByAnyRange}
        clusterId={clusterId}
        measure="lag_seconds"
        about={{ group }}
        format={formatDuration}
        range={range}
        onRange={onRange}
      />
      <RollupChart
        title={say.lagByHoursAndDays}
        about={{ clusterId, subjects: [`group/${group}`] }}
        query={rollups}
        span={span}
        onSpan={onSpan}
        file={{
          address: ROLLUPS,
          blanks: { cluster_id: clusterId },
          asked: { group, period: SPANS[span].period, from: daysAgo(SPANS[span].days) },
        }}
        table={(rows, periodS) => <GroupRollupTable rows={rows} periodS={periodS} />}
        figures={[
          {
            caption: say.behindByAtMost,
            format: formatDuration,
            lines: topics.map((topic) => ({
              name: topic,
              of: (row: GroupRollup) => row.topic === topic,
              value: (row: GroupRollup) => row.lag_seconds_p95,
            })),
          },
          {
            caption: say.lagAtMost,
            lines: topics.map((topic) => ({
              name: topic,
              of: (row: GroupRollup) => row.topic === topic,
              value: (row: GroupRollup) => row.lag_records_max,
            })),
          },
        ]}
      />
      <InsightCard
        title={say.lagObjectives}
        query={objectives}
        file={{ address: OBJECTIVES, blanks: { cluster_id: clusterId }, asked: { group } }}
        aside={canWrite && <Button onClick={() => setSetting(true)}>{say.setAnObjective}</Button>}
        empty={say.needsKnownTimeLag}
      >
        {(rows) => <ObjectiveTable rows={rows} clusterId={clusterId} isOfOne />}
      </InsightCard>
      {setting && <ObjectiveForm start={{ cluster_id: clusterId, group }} onClose={() => setSetting(false)} />}
    </div>
  );
}
