import { Loader, UnstyledButton } from "@mantine/core";
import { IconAlertTriangle, IconCircleFilled } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Hint } from "@/components/hint";
import { TERMINAL } from "@/lib/operations";
import { useOverview } from "@/lib/use-clusters";
import { words } from "@/words/frame";

const say = words.runningOperations;

interface RunningOperationsProps {
  /** Whether the stream of changes is open. */
  live: boolean;
  /** Since when what the page shows is not known to be true, ms since the epoch; null while it is. */
  since: number | null;
}

/** How many operations run right now, and whether this page is fed live. */
export function RunningOperations({ live, since }: RunningOperationsProps) {
  const { data } = useOverview();
  if (since !== null) return <Stale since={since} />;
  const running = (data?.parts.operations.data ?? []).filter((operation) => !TERMINAL.has(operation.state)).length;
  if (running > 0) {
    return (
      <UnstyledButton
        component={Link}
        to="/operations"
        style={{ display: "flex", gap: 8, alignItems: "center", fontSize: "0.8125rem", whiteSpace: "nowrap" }}
      >
        <Loader size={14} />
        <span>{say.running(running)}</span>
      </UnstyledButton>
    );
  }
  return (
    <Hint label={live ? say.changesArriveAsTheyHappen : say.theLiveStreamIsDown}>
      <span className="ps-status ps-muted ps-hide-sm" style={{ fontSize: "0.75rem" }}>
        <IconCircleFilled size={8} className={live ? "ps-ok" : "ps-warn"} aria-hidden />
        {live ? say.live : say.polling}
      </span>
    </Hint>
  );
}

/** Numbers that nobody could read again are no news. They are asked for again by themselves, and at a click. */
function Stale({ since }: { since: number }) {
  const client = useQueryClient();
  const retry = () => void client.refetchQueries({ queryKey: ["page"], type: "active" });
  return (
    <Hint label={say.theServerDidNotAnswer}>
      <UnstyledButton
        onClick={retry}
        className="ps-status ps-warn"
        style={{ fontSize: "0.75rem", whiteSpace: "nowrap" }}
      >
        <IconAlertTriangle size={14} aria-hidden />
        <span role="status">{say.staleSince(clock(since))}</span>
      </UnstyledButton>
    </Hint>
  );
}

const clock = (ms: number): string => new Date(ms).toLocaleTimeString(undefined, { hour12: false });
