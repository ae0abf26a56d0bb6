import { IconClockQuestion } from "@tabler/icons-react";
import { useMemo } from "react";
import type { ChartSubject } from "@/lib/chart-events";
import { formatDuration } from "@/lib/format";
import { leastBehind, seriesByTopic } from "@/lib/lag";
import type { LagPoint } from "@/lib/types";
import { TimeChart } from "./charts/time-chart";
import { Empty } from "./empty";
import { Quantity } from "./quantity";
import { RelTime } from "./rel-time";

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
        label={`Time lag of group ${group} over time`}
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
        title={
          least ? (
            <>
              At least <Quantity of="span" value={least} />
            </>
          ) : (
            "No time is known yet"
          )
        }
      >
        {least
          ? "The unread records are older than the samples of the log."
          : "The time comes from samples of the log around the group's offsets."}
        {firstVerdictAt && (
          <>
            {" "}
            The first run that can judge the group: <RelTime at={firstVerdictAt} />.
          </>
        )}
      </Empty>
    </div>
  );
}
