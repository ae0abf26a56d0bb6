import { NumberInput } from "@mantine/core";
import { useState } from "react";
import { GroupLink } from "@/components/group-link";
import { InsightCard } from "@/components/insight-card";
import { RollupChart } from "@/components/rollup-chart";
import { Status, type Tone } from "@/components/status";
import { RelTime } from "@/components/rel-time";
import { formatBytes, formatCompact, formatDuration, formatInteger } from "@/lib/format";
import { useTopicRollups, useWhatIf, useWhatIfGroups, type WhatIfGroup, type WhatIfRow } from "@/lib/insights";
import type { Span } from "@/lib/search";

const WHAT_IF = "/api/v1/clusters/{cluster_id}/analytics/retention/{topic}/what-if";
const HOUR_S = 3600;

const VERDICTS: Record<WhatIfGroup["verdict"], [Tone, string]> = {
  safe: ["ok", "Safe"],
  would_lose: ["bad", "Would have lost records"],
  unknown: ["muted", "Not known"],
};

interface AnalysesTabProps {
  clusterId: string;
  topic: string;
  /** retention.ms as it is; null: not known. */
  nowMs: number | null;
}

/** How the topic was used over time, and what another retention would have meant. */
export function AnalysesTab({ clusterId, topic, nowMs }: AnalysesTabProps) {
  const [span, setSpan] = useState<Span>("2d");
  const [hours, setHours] = useState<number | string>("");
  const retentionS = typeof hours === "number" && hours > 0 ? Math.round(hours * HOUR_S) : undefined;
  const blanks = { cluster_id: clusterId, topic };
  return (
    <div className="ps-stack">
      <RollupChart
        title="Held and written"
        query={useTopicRollups(clusterId, topic, span)}
        span={span}
        onSpan={setSpan}
        figures={[
          {
            caption: "Bytes held, one copy",
            format: formatBytes,
            lines: [{ name: "held", value: (row) => row.bytes_avg }],
          },
          {
            caption: "Records written in the period",
            format: formatCompact,
            lines: [{ name: "written", value: (row) => row.records_in }],
          },
        ]}
      />
      <InsightCard
        title="If it were kept for another time"
        query={useWhatIf(clusterId, topic, retentionS)}
        file={{ address: WHAT_IF, blanks }}
        aside={
          <NumberInput
            size="xs"
            w={150}
            aria-label="Also for, hours"
            placeholder="Also for … hours"
            min={1}
            max={744}
            value={hours}
            onChange={setHours}
          />
        }
        empty="It needs whole hours of the topic that were sampled."
      >
        {(rows) => <WhatIf rows={rows} nowMs={nowMs} />}
      </InsightCard>
      <InsightCard
        title="Groups, if it were kept for another time"
        query={useWhatIfGroups(clusterId, topic, retentionS)}
        file={{ address: `${WHAT_IF}/groups`, blanks }}
        empty="No group that commits was sampled on this topic."
      >
        {(rows) => <WhatIfGroups rows={rows} clusterId={clusterId} />}
      </InsightCard>
    </div>
  );
}

const known = (bytes: number | null) =>
  bytes === null ? <span className="ps-muted">not known</span> : formatBytes(bytes);

function WhatIf({ rows, nowMs }: { rows: WhatIfRow[]; nowMs: number | null }) {
  return (
    <div className="ps-table-wrap">
      <table className="ps-table" aria-label="What if">
        <thead>
          <tr>
            <th scope="col">Kept for</th>
            <th scope="col" data-align="right">
              Held, one copy
            </th>
            <th scope="col" data-align="right">
              Disk freed
            </th>
            <th scope="col" data-align="right">
              Groups losing
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.retention_s} data-applies={nowMs === row.retention_s * 1000 || undefined}>
              <td>
                {formatDuration(row.retention_s)}
                {nowMs === row.retention_s * 1000 && <span className="ps-tag">now</span>}
              </td>
              <td data-align="right">{known(row.bytes_held)}</td>
              <td data-align="right">{known(row.disk_freed_bytes)}</td>
              <td data-align="right" className={row.groups_losing > 0 ? "ps-bad" : undefined}>
                {formatInteger(row.groups_losing)}
                {row.groups_unknown > 0 && (
                  <span className="ps-muted"> and {formatInteger(row.groups_unknown)} not known</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function WhatIfGroups({ rows, clusterId }: { rows: WhatIfGroup[]; clusterId: string }) {
  return (
    <div className="ps-table-wrap">
      <table className="ps-table" aria-label="What if, by group">
        <thead>
          <tr>
            <th scope="col">Group</th>
            <th scope="col">Kept for</th>
            <th scope="col">Then</th>
            <th scope="col" data-align="right" className="ps-hide-sm">
              Hours with a loss
            </th>
            <th scope="col" className="ps-hide-sm">
              First and last
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.group} ${row.retention_s}`}>
              <td>
                <GroupLink clusterId={clusterId} group={row.group} />
              </td>
              <td>{formatDuration(row.retention_s)}</td>
              <td>
                <Status tone={VERDICTS[row.verdict][0]} label={VERDICTS[row.verdict][1]} />
              </td>
              <td data-align="right" className="ps-hide-sm">
                {formatInteger(row.losing_hours)}
                {row.unknown_hours > 0 && (
                  <span className="ps-muted"> and {formatInteger(row.unknown_hours)} not known</span>
                )}
              </td>
              <td className="ps-hide-sm">
                {row.first_ms === null ? (
                  <span className="ps-muted">–</span>
                ) : (
                  <>
                    <RelTime at={row.first_ms} /> to <RelTime at={row.last_ms} />
                  </>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
