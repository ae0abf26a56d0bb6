import { Loader, Tooltip, UnstyledButton } from "@mantine/core";
import { IconCircleFilled } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { TERMINAL } from "@/lib/operations";
import { useOverview } from "@/lib/use-clusters";

/** How many operations run right now, and whether this page is fed live. */
export function RunningOperations({ live }: { live: boolean }) {
  const { data } = useOverview();
  const running = (data?.parts.operations.data ?? []).filter((operation) => !TERMINAL.has(operation.state)).length;
  if (running > 0) {
    return (
      <UnstyledButton
        component={Link}
        to="/operations"
        style={{ display: "flex", gap: 8, alignItems: "center", fontSize: "0.8125rem", whiteSpace: "nowrap" }}
      >
        <Loader size={14} />
        <span>{running} running</span>
      </UnstyledButton>
    );
  }
  return (
    <Tooltip
      label={
        live ? "Changes arrive as they happen." : "The live stream is down; pages refresh every few seconds instead."
      }
    >
      <span className="ps-status ps-muted ps-hide-sm" style={{ fontSize: "0.75rem" }}>
        <IconCircleFilled size={8} className={live ? "ps-ok" : "ps-warn"} aria-hidden />
        {live ? "Live" : "Polling"}
      </span>
    </Tooltip>
  );
}
