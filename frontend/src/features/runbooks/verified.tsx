import { Tooltip } from "@mantine/core";
import type { RunbookRow } from "@/lib/types";
import { words } from "@/words/runbooks";

const say = words.verified;

/** When somebody last followed a runbook on running processes; what is old or never is said. */
export function Verified({ runbook }: { runbook: Pick<RunbookRow, "last_verified" | "is_stale"> }) {
  const { last_verified: day, is_stale: stale } = runbook;
  if (day === null)
    return (
      <Tooltip label={say.nobodyHasFollowedItOn}>
        <span className="ps-warn">{say.never}</span>
      </Tooltip>
    );
  return (
    <Tooltip label={stale ? say.longerThan90DaysAgo : say.whenItWasLastFollowed}>
      <time dateTime={day} className={stale ? "ps-warn ps-tnum" : "ps-tnum"} style={{ whiteSpace: "nowrap" }}>
        {day}
      </time>
    </Tooltip>
  );
}
