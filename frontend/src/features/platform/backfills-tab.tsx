import { ActionIcon, Button, Menu, Progress } from "@mantine/core";
import { IconDots, IconHistory } from "@tabler/icons-react";
import { createColumnHelper } from "@tanstack/react-table";
import { useState } from "react";
import { Card } from "@/components/card";
import { DataTable } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { ListView } from "@/components/list-view";
import { ProblemPanel } from "@/components/problem-panel";
import { Quantity } from "@/components/quantity";
import { RelTime } from "@/components/rel-time";
import { RunStatus } from "@/components/run-status";
import { Status } from "@/components/status";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { type Backfill, doneShare, isActive, useBackfills } from "@/lib/backfills";
import { formatInteger, toDate } from "@/lib/format";
import { words } from "@/words/platform";
import { BackfillForm } from "./backfill-form";

const say = words.backfillsTab;

const JOBS: Record<string, string> = { hourly: say.hours, daily: say.days };

/** "21 Nov, 10:00" in one's own time, exact on hover. */
function Moment({ at }: { at: string }) {
  const date = toDate(at);
  if (date === null) return <>{at}</>;
  const words = date.toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  return (
    <time dateTime={at} title={at} style={{ whiteSpace: "nowrap" }}>
      {words}
    </time>
  );
}

/** How far a run is, and how long it has to go; what is not known is said. */
function Going({ run }: { run: Backfill }) {
  if (!isActive(run))
    return (
      <span className="ps-muted">
        {run.wall_s === null ? "–" : say.took(<Quantity of="span" value={run.wall_s} />)}
      </span>
    );
  const share = doneShare(run);
  return (
    <div style={{ minWidth: 120 }}>
      {share !== null && <Progress size="sm" value={100 * share} aria-label={say.progressOf(run.id)} />}
      <span className="ps-muted" style={{ fontSize: "0.75rem" }}>
        {run.progress.phase ?? (run.state === "queued" ? say.waitsForItsTurn : say.begins)}
        {share !== null && (
          <>
            , <Quantity of="share" value={share} />
          </>
        )}
        {run.eta_s !== null && say.aboutToGo(<Quantity of="span" value={Math.round(run.eta_s)} />)}
      </span>
    </div>
  );
}

const column = createColumnHelper<Backfill>();
const shown = [
  column.accessor("job", {
    header: say.computes,
    cell: ({ row: { original: run } }) => (
      <>
        {JOBS[run.job] ?? run.job}
        <div className="ps-muted" style={{ fontSize: "0.75rem" }}>
          {say.to(<Moment at={run.from} />, <Moment at={run.to} />)}
        </div>
      </>
    ),
  }),
  column.accessor("state", {
    header: say.state,
    cell: ({ row: { original: run } }) => (
      <>
        {run.cancel_requested && isActive(run) ? (
          <Status tone="warn" label={say.isBeingEnded} pulse={run.state === "running"} />
        ) : (
          <RunStatus state={run.state} />
        )}
        {run.error && (
          <div className="ps-bad" style={{ fontSize: "0.75rem", overflowWrap: "anywhere" }}>
            {run.error}
          </div>
        )}
      </>
    ),
  }),
  column.accessor((run) => doneShare(run) ?? -1, {
    id: "progress",
    header: say.progress,
    cell: ({ row }) => <Going run={row.original} />,
  }),
  column.accessor("rows_out", {
    header: say.rows,
    meta: { align: "right", hideBelow: "sm" },
    cell: ({ row: { original: run } }) =>
      run.state === "succeeded" ? formatInteger(run.rows_out) : <span className="ps-muted">–</span>,
  }),
  column.accessor("created_at", {
    header: say.askedFor,
    meta: { hideBelow: "sm" },
    cell: ({ row: { original: run } }) => (
      <>
        <RelTime at={run.created_at} />{" "}
        <span className="ps-muted">{run.trigger === "schedule" ? say.bySchedule : say.by(run.requested_by)}</span>
      </>
    ),
  }),
];

const actions = (onCancel: (run: Backfill) => void) =>
  column.display({
    id: "actions",
    header: () => <span className="ps-sr">{say.actions}</span>,
    meta: { align: "right" },
    cell: ({ row: { original: run } }) =>
      isActive(run) &&
      !run.cancel_requested && (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon size="sm" aria-label={say.actionsFor(run.id)}>
              <IconDots size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item color="red" onClick={() => onCancel(run)}>
              {say.endIt}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      ),
  });

/** Hours and days of every tenant computed again: asked for, watched, ended; what ran before stays listed. */
export function BackfillsTab() {
  const query = useBackfills();
  const [asking, setAsking] = useState(false);
  const cancel = useChange(
    (run: Backfill) =>
      api.post("/api/v1/operator/analytics/runs/{run_id}/cancellation", { blanks: { run_id: run.id } }),
    () => say.itIsBeingEndedWhat,
  );
  const end = (run: Backfill) =>
    // Refused, it has mostly ended by itself: the list is to say so.
    cancel.mutate(run, { onError: () => void query.refetch() });
  return (
    <>
      <Card
        title={say.hoursAndDaysComputedAgain}
        aside={
          <Button leftSection={<IconHistory size={15} />} onClick={() => setAsking(true)}>
            {say.computeARangeAgain}
          </Button>
        }
      >
        {cancel.isError && (
          <div className="ps-card-body">
            <ProblemPanel error={cancel.error} />
          </div>
        )}
        <ListView query={query}>
          {(rows) => (
            <DataTable
              rows={rows}
              columns={[...shown, actions(end)]}
              rowId={(run) => run.id}
              label={say.backfills}
              defaultSort="-created_at"
              pageSize={20}
              empty={
                <Empty icon={<IconHistory size={20} />} title={say.noHoursOrDaysWere}>
                  {say.theyAreComputedByThemselves}
                </Empty>
              }
            />
          )}
        </ListView>
      </Card>
      {asking && <BackfillForm onClose={() => setAsking(false)} />}
    </>
  );
}
