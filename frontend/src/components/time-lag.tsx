import { IconClockQuestion } from "@tabler/icons-react";
import { useMemo } from "react";
import type { ChartSubject } from "@/lib/chart-events";
import { formatDuration } from "@/lib/format";
import { leastBehind, seriesByTopic } from "@/lib/lag";
import type { LagPoint } from "@/lib/types";
import { words } from "@/words/charts";
import { TimeChart } from "./charts/time-chart";
import { Empty } from "./empty";
import { Quantity } from "./quantity";
import { RelTime } from "./rel-time";

const say = words.timeLag;

/** As high as a chart, so that the one beside it keeps its place when this one comes. */
const HEIGHT = 240;

interface TimeLagProps {
  group: string;
  points: LagPoint[];
  /** When the first run that can judge the cluster's groups is due; null once one has. */
  firstVerdictAt: string | null | undefined;
  about?: ChartSubject;
}

/** How far behind in time: a line over time, or why there is none and when to expect one. */
export function TimeLag({ group, points, firstVerdictAt, about }: TimeLagProps) {
  const series = useMemo(() => seriesByTopic(points, "lag_seconds"), [points]);
  if (series.some((topic) => topic.points.some(([, seconds]) => seconds !== null))) {
    return (
      <TimeChart
        series={series}
        label={say.timeLagOfGroupOver(group)}
        format={formatDuration}
        height={HEIGHT}
        about={about}
        area
      />
    );
  }
  const least = leastBehind(points);
  return (
    <div style={{ display: "grid", alignContent: "center", minHeight: HEIGHT }}>
      <Empty
        icon={<IconClockQuestion size={20} />}
        title={least ? say.atLeast(<Quantity of="span" value={least} />) : say.noTimeIsKnownYet}
      >
        {least ? say.theUnreadRecordsAreOlder : say.theTimeComesFromSamples}
        {firstVerdictAt && <> {say.theFirstRunThatCan(<RelTime at={firstVerdictAt} />)}</>}
      </Empty>
    </div>
  );
}
