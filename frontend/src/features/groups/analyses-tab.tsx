import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { InsightCard } from "@/components/insight-card";
import { RollupChart } from "@/components/rollup-chart";
import { Status, type Tone } from "@/components/status";
import { formatDuration, formatInteger } from "@/lib/format";
import { type GroupRollup, type ObjectiveRow, useGroupRollups, useObjectives } from "@/lib/insights";
import type { Span } from "@/lib/search";
import { formatShare } from "@/lib/readings";

const OBJECTIVES = "/api/v1/clusters/{cluster_id}/analytics/lag-objectives";

const VERDICTS: Record<ObjectiveRow["verdict"], [Tone, string]> = {
  within: ["ok", "Within"],
  slow_burn: ["warn", "Slow burn"],
  fast_burn: ["bad", "Fast burn"],
  unknown: ["muted", "Not known"],
};

/** How late the group was by hours or days, and how fast it uses up the time that it may be late. */
export function AnalysesTab({ clusterId, group }: { clusterId: string; group: string }) {
  const [span, setSpan] = useState<Span>("2d");
  const rollups = useGroupRollups(clusterId, group, span);
  const topics = [...new Set((rollups.data?.data ?? []).map((row) => row.topic))];
  return (
    <div className="ps-stack">
      <RollupChart
        title="Lag by hours and days"
        query={rollups}
        span={span}
        onSpan={setSpan}
        figures={[
          {
            caption: "Behind by, 95 % of the time at most",
            format: formatDuration,
            lines: topics.map((topic) => ({
              name: topic,
              of: (row: GroupRollup) => row.topic === topic,
              value: (row: GroupRollup) => row.lag_seconds_p95,
            })),
          },
          {
            caption: "Unread records, at most",
            lines: topics.map((topic) => ({
              name: topic,
              of: (row: GroupRollup) => row.topic === topic,
              value: (row: GroupRollup) => row.lag_records_max,
            })),
          },
        ]}
      />
      <InsightCard
        title="Objective: at most 1m behind for 99 % of the time"
        query={useObjectives(clusterId, group)}
        file={{ address: OBJECTIVES, blanks: { cluster_id: clusterId } }}
        empty="It needs windows in which the group's time lag is known."
      >
        {(rows) => <Objectives rows={rows} clusterId={clusterId} />}
      </InsightCard>
    </div>
  );
}

const burn = (rate: number | null) =>
  rate === null ? <span className="ps-muted">not known</span> : `${Math.round(rate * 10) / 10}×`;

function Objectives({ rows, clusterId }: { rows: ObjectiveRow[]; clusterId: string }) {
  return (
    <div className="ps-table-wrap">
      <table className="ps-table" aria-label="Objectives">
        <thead>
          <tr>
            <th scope="col">Topic</th>
            <th scope="col">State</th>
            <th scope="col" data-align="right">
              In time
            </th>
            <th scope="col" data-align="right">
              Budget left
            </th>
            <th scope="col" data-align="right" className="ps-hide-sm">
              Burn, 1h
            </th>
            <th scope="col" data-align="right" className="ps-hide-sm">
              Burn, 6h
            </th>
            <th scope="col" data-align="right" className="ps-hide-md">
              Not known
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.topic}>
              <td>
                <Link
                  to="/clusters/$clusterId/topics/$topic"
                  params={{ clusterId, topic: row.topic }}
                  className="ps-link ps-mono"
                >
                  {row.topic}
                </Link>
              </td>
              <td>
                <Status tone={VERDICTS[row.verdict][0]} label={VERDICTS[row.verdict][1]} />
              </td>
              <td data-align="right">{formatShare(row.good_share)}</td>
              <td data-align="right" className={row.budget_left !== null && row.budget_left < 0 ? "ps-bad" : undefined}>
                {formatShare(row.budget_left)}
              </td>
              <td data-align="right" className="ps-hide-sm">
                {burn(row.burn_1h)}
              </td>
              <td data-align="right" className="ps-hide-sm">
                {burn(row.burn_6h)}
              </td>
              <td data-align="right" className="ps-hide-md">
                {formatInteger(row.unknown)} of {formatInteger(row.good + row.bad + row.unknown)} windows
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
