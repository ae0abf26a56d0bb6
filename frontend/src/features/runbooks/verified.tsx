import { Tooltip } from "@mantine/core";
import type { RunbookRow } from "@/lib/types";

/** When somebody last followed a runbook on running processes; what is old or never is said. */
export function Verified({ runbook }: { runbook: Pick<RunbookRow, "last_verified" | "is_stale"> }) {
  const { last_verified: day, is_stale: stale } = runbook;
  if (day === null)
    return (
      <Tooltip label="Nobody has followed it on running processes yet.">
        <span className="ps-warn">never</span>
      </Tooltip>
    );
  return (
    <Tooltip
      label={
        stale ? "Longer than 90 days ago: it may be out of date." : "When it was last followed on running processes."
      }
    >
      <time dateTime={day} className={stale ? "ps-warn ps-tnum" : "ps-tnum"} style={{ whiteSpace: "nowrap" }}>
        {day}
      </time>
    </Tooltip>
  );
}
