import { Button, Group, Slider } from "@mantine/core";
import { IconAdjustments, IconClockPlus } from "@tabler/icons-react";
import { GroupLink } from "@/components/group-link";
import { InsightCard } from "@/components/insight-card";
import { NumberBox } from "@/components/number-box";
import { Notice } from "@/components/notice";
import { KeptFor, Quantity } from "@/components/quantity";
import { RelTime } from "@/components/rel-time";
import { type Stat, Stats } from "@/components/stats";
import { formatDuration, formatInteger } from "@/lib/format";
import { useWhatIf, useWhatIfGroups, type WhatIfGroup, type WhatIfRow } from "@/lib/insights";
import { chosenRung, isLonger, isNow } from "@/lib/what-if";
import { words } from "@/words/topics";
import { LadderTable } from "./ladder-table";

const say = words.whatIf;

const WHAT_IF = "/api/v1/clusters/{cluster_id}/analytics/retention/{topic}/what-if";
const HOUR_S = 3600;
/** The longest retention that the service looks at, h. */
const RETENTION_MAX_H = 744;

export interface WhatIfView {
  /** The retention that is looked at, s. */
  keep?: number;
  /** One that is not on the ladder, s. */
  also?: number;
}

interface WhatIfProps {
  clusterId: string;
  topic: string;
  /** retention.ms as it is; null: not known. */
  nowMs: number | null;
  view: WhatIfView;
  onView: (view: WhatIfView) => void;
  /** Plans for the chosen retention, s; missing for those who may not. */
  onLease?: (retentionS: number) => void;
  onChange?: (retentionS: number) => void;
}

/** What another retention would have meant: move along the ladder, then lease it or plan the change. */
export function WhatIf({ clusterId, topic, nowMs, view, onView, onLease, onChange }: WhatIfProps) {
  const query = useWhatIf(clusterId, topic, view.also);
  const groups = useWhatIfGroups(clusterId, topic, view.also);
  const blanks = { cluster_id: clusterId, topic };
  return (
    <InsightCard
      title={say.ifKeptForAnotherTime}
      query={query}
      file={{ address: WHAT_IF, blanks, asked: { retention_s: view.also } }}
      aside={
        <NumberBox
          w={150}
          label={say.alsoForHours}
          placeholder={say.alsoForHoursHint}
          min={1}
          max={RETENTION_MAX_H}
          scale={HOUR_S}
          value={view.also}
          onChange={(also) => onView({ also, keep: also })}
        />
      }
      empty={say.needsWholeHours}
    >
      {(rows) => {
        const chosen = chosenRung(rows, view.keep, nowMs);
        return (
          <>
            <Rungs rows={rows} chosen={chosen} onChoose={(row) => onView({ ...view, keep: row.retention_s })} />
            <Stats items={figures(chosen, nowMs)} />
            <Losers
              chosen={chosen}
              clusterId={clusterId}
              rows={groups.data?.data.filter((row) => row.retention_s === chosen.retention_s)}
              isAway={groups.isError}
            />
            <Steps chosen={chosen} nowMs={nowMs} onLease={onLease} onChange={onChange} />
            <LadderTable rows={rows} chosen={chosen} nowMs={nowMs} />
          </>
        );
      }}
    </InsightCard>
  );
}

interface RungsProps {
  rows: WhatIfRow[];
  chosen: WhatIfRow;
  onChoose: (row: WhatIfRow) => void;
}

/** The ladder as a slider: rungs stand at equal distances, whatever the times between them. */
function Rungs({ rows, chosen, onChoose }: RungsProps) {
  const at = rows.indexOf(chosen);
  const timeAt = (index: number) => formatDuration(rows[index]?.retention_s);
  return (
    <div className="ps-card-body" style={{ padding: "14px 28px 34px" }}>
      <Slider
        thumbLabel={say.keptFor}
        min={0}
        max={rows.length - 1}
        step={1}
        value={at}
        label={timeAt}
        marks={rows.map((row, value) => ({ value, label: formatDuration(row.retention_s) }))}
        thumbValueText={timeAt}
        onChange={(index) => {
          const row = rows[index];
          if (row) onChoose(row);
        }}
      />
    </div>
  );
}

const bytes = (value: number | null) => (
  <Quantity of="bytes" value={value === null ? null : Math.abs(value)} none={say.notKnown} isKey />
);

function figures(row: WhatIfRow, nowMs: number | null): Stat[] {
  const takes = row.disk_freed_bytes !== null && row.disk_freed_bytes < 0;
  return [
    {
      label: say.ifKeptFor,
      value: <Quantity of="span" value={row.retention_s} isKey />,
      note: isNow(row, nowMs) ? say.asItIsNow : say.now(<KeptFor ms={nowMs} />),
    },
    { label: say.wouldHold, value: bytes(row.bytes_held), note: say.oneCopy },
    {
      label: takes ? say.diskTaken : say.diskFreed,
      value: bytes(row.disk_freed_bytes),
      note: say.allCopies,
      tone: takes ? "warn" : undefined,
    },
    {
      label: say.groupsLosing,
      value: formatInteger(row.groups_losing),
      tone: row.groups_losing > 0 ? "bad" : undefined,
      note: row.groups_unknown > 0 ? say.groupsNotKnown(row.groups_unknown) : say.atMost,
    },
  ];
}

interface LosersProps {
  chosen: WhatIfRow;
  clusterId: string;
  /** Of the chosen retention; missing while they are awaited. */
  rows: WhatIfGroup[] | undefined;
  isAway: boolean;
}

/** The groups that the chosen retention would have cost records, by name and time. */
function Losers({ chosen, clusterId, rows, isAway }: LosersProps) {
  const losing = rows?.filter((row) => row.verdict === "would_lose") ?? [];
  if (chosen.groups_losing === 0) return null;
  // The answer by group has a bound of its own rows, and may be a little older than the count.
  const more = rows === undefined ? 0 : chosen.groups_losing - losing.length;
  return (
    <div className="ps-card-body">
      <Notice tone="warn" title={say.unreadWouldHaveGone(<Quantity of="span" value={chosen.retention_s} />)}>
        {!rows && (isAway ? say.groupsCannotBeRead : say.loading)}
        {losing.map((row) => (
          <div key={row.group}>
            {say.lost(
              <GroupLink clusterId={clusterId} group={row.group} />,
              row.losing_hours,
              <RelTime at={row.first_ms} />,
              <RelTime at={row.last_ms} />,
            )}
          </div>
        ))}
        {more > 0 && <div>{losing.length > 0 ? say.moreByRest(more) : say.groupsByRest(more)}</div>}
      </Notice>
    </div>
  );
}

interface StepsProps extends Pick<WhatIfProps, "nowMs" | "onLease" | "onChange"> {
  chosen: WhatIfRow;
}

/** From the question to a plan; nothing is changed before that is confirmed. */
function Steps({ chosen, nowMs, onLease, onChange }: StepsProps) {
  if (isNow(chosen, nowMs) || (!onLease && !onChange)) return null;
  const time = formatDuration(chosen.retention_s);
  return (
    <Group gap={8} className="ps-card-body">
      {onLease && isLonger(chosen, nowMs) && (
        <Button leftSection={<IconClockPlus size={15} />} onClick={() => onLease(chosen.retention_s)}>
          {say.keepForATime(time)}
        </Button>
      )}
      {onChange && (
        <Button
          variant="default"
          leftSection={<IconAdjustments size={15} />}
          onClick={() => onChange(chosen.retention_s)}
        >
          {say.changeTheRetentionTo(time)}
        </Button>
      )}
    </Group>
  );
}
