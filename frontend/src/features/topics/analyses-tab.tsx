import { GroupLink } from "@/components/group-link";
import { InsightCard } from "@/components/insight-card";
import { OffsetsCard } from "@/components/offsets-card";
import { Quantity } from "@/components/quantity";
import { RollupChart } from "@/components/rollup-chart";
import { ScrollBox } from "@/components/scroll-box";
import { TopicRollupTable } from "@/components/rollup-table";
import { Status, type Tone } from "@/components/status";
import { RelTime } from "@/components/rel-time";
import { formatBytes, formatCompact, formatInteger } from "@/lib/format";
import { daysAgo, useTopicRollups, useWhatIfGroups, type WhatIfGroup } from "@/lib/insights";
import { type ChartRange, type Span, SPANS } from "@/lib/search";
import { words } from "@/words/topics";
import { WhatIf, type WhatIfView } from "./what-if";

const say = words.analysesTab;

const ROLLUPS = "/api/v1/clusters/{cluster_id}/analytics/rollups/topics";
const WHAT_IF = "/api/v1/clusters/{cluster_id}/analytics/retention/{topic}/what-if";

const VERDICTS: Record<WhatIfGroup["verdict"], [Tone, string]> = {
  safe: ["ok", say.safe],
  would_lose: ["bad", say.wouldHaveLost],
  unknown: ["muted", say.notKnown],
};

export interface AnalysesView extends WhatIfView {
  span?: Span;
}

interface AnalysesTabProps {
  clusterId: string;
  topic: string;
  /** retention.ms as it is; null: not known. */
  nowMs: number | null;
  /** How far back the offsets reach. */
  range: ChartRange | undefined;
  onRange: (range: ChartRange) => void;
  view: AnalysesView;
  onView: (view: AnalysesView) => void;
  /** Plans for another retention, s; missing for those who may not. */
  onLease?: (retentionS: number) => void;
  onChange?: (retentionS: number) => void;
}

/** How the topic was used over time, and what another retention would have meant. */
export function AnalysesTab({
  clusterId,
  topic,
  nowMs,
  range,
  onRange,
  view,
  onView,
  onLease,
  onChange,
}: AnalysesTabProps) {
  const span: Span = view.span ?? "2d";
  const blanks = { cluster_id: clusterId, topic };
  return (
    <div className="ps-stack">
      <RollupChart
        title={say.heldAndWritten}
        about={{ clusterId, subjects: [`topic/${topic}`] }}
        file={{
          address: ROLLUPS,
          blanks: { cluster_id: clusterId },
          asked: { topic, period: SPANS[span].period, from: daysAgo(SPANS[span].days) },
        }}
        table={(rows, periodS) => <TopicRollupTable rows={rows} periodS={periodS} />}
        query={useTopicRollups(clusterId, topic, span)}
        span={span}
        onSpan={(value) => onView({ ...view, span: value === "2d" ? undefined : value })}
        figures={[
          {
            caption: say.bytesHeld,
            format: formatBytes,
            lines: [{ name: say.held, value: (row) => row.bytes_avg }],
          },
          {
            caption: say.recordsWritten,
            format: formatCompact,
            lines: [{ name: say.written, value: (row) => row.records_in }],
          },
        ]}
      />
      <OffsetsCard clusterId={clusterId} topic={topic} range={range} onRange={onRange} />
      <WhatIf
        clusterId={clusterId}
        topic={topic}
        nowMs={nowMs}
        view={view}
        onView={(given) => onView({ ...view, ...given })}
        onLease={onLease}
        onChange={onChange}
      />
      <InsightCard
        title={say.groupsIfKeptForAnotherTime}
        query={useWhatIfGroups(clusterId, topic, view.also)}
        file={{ address: `${WHAT_IF}/groups`, blanks, asked: { retention_s: view.also } }}
        empty={say.noGroupSampled}
      >
        {(rows) => <WhatIfGroups rows={rows} clusterId={clusterId} />}
      </InsightCard>
    </div>
  );
}

function WhatIfGroups({ rows, clusterId }: { rows: WhatIfGroup[]; clusterId: string }) {
  return (
    <ScrollBox label={say.whatIfByGroup}>
      <table className="ps-table" aria-label={say.whatIfByGroup}>
        <thead>
          <tr>
            <th scope="col">{say.group}</th>
            <th scope="col">{say.keptFor}</th>
            <th scope="col">{say.then}</th>
            <th scope="col" data-align="right" className="ps-hide-sm">
              {say.hoursWithALoss}
            </th>
            <th scope="col" className="ps-hide-sm">
              {say.firstAndLast}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.group} ${row.retention_s}`}>
              <td>
                <GroupLink clusterId={clusterId} group={row.group} />
              </td>
              <td>
                <Quantity of="span" value={row.retention_s} />
              </td>
              <td>
                <Status tone={VERDICTS[row.verdict][0]} label={VERDICTS[row.verdict][1]} />
              </td>
              <td data-align="right" className="ps-hide-sm">
                {formatInteger(row.losing_hours)}
                {row.unknown_hours > 0 && <span className="ps-muted"> {say.andNotKnown(row.unknown_hours)}</span>}
              </td>
              <td className="ps-hide-sm">
                {row.first_ms === null ? (
                  <span className="ps-muted">–</span>
                ) : (
                  say.fromTo(<RelTime at={row.first_ms} />, <RelTime at={row.last_ms} />)
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}
