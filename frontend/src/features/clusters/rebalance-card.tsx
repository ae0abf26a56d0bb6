import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Card, Lines } from "@/components/card";
import { Empty } from "@/components/empty";
import { Notice } from "@/components/notice";
import { ProblemPanel } from "@/components/problem-panel";
import { Quantity } from "@/components/quantity";
import { RelTime } from "@/components/rel-time";
import { useMayWrite } from "@/lib/permissions";
import { isRefusal } from "@/lib/problem";
import { reasonText, verdictText } from "@/lib/rebalance-said";
import { type RebalanceSchedule, type ScheduledRebalance, useRebalanceSchedule } from "@/lib/rebalance-schedule";
import type { Cluster } from "@/lib/types";
import { words } from "@/words/rebalance";
import { RebalanceForm } from "./rebalance-form";

const say = words.card;

/** When the cluster is rebalanced by itself, what the last look came to, and what was begun. */
export function RebalanceCard({ cluster }: { cluster: Pick<Cluster, "id"> }) {
  const query = useRebalanceSchedule(cluster.id);
  const mayChange = useMayWrite()("cluster", cluster.id);
  const [isChanged, setChanged] = useState(false);
  // Who sees a part of the cluster only is not told what is decided about all of it.
  if (isRefusal(query)) return null;
  const found = query.data;
  return (
    <Card
      title={say.title}
      aside={
        found &&
        mayChange && (
          <Button variant="default" size="xs" onClick={() => setChanged(true)}>
            {say.change}
          </Button>
        )
      }
    >
      {query.isPending && <Lines rows={3} />}
      {!query.isPending && !found && (
        <div className="ps-card-body">
          <ProblemPanel error={query.error} onRetry={() => void query.refetch()} />
        </div>
      )}
      {found && <Shown schedule={found} />}
      {found && isChanged && (
        <RebalanceForm clusterId={cluster.id} schedule={found} onClose={() => setChanged(false)} />
      )}
    </Card>
  );
}

/** Verdicts that ask for nobody's eye. */
const QUIET = new Set([
  "balanced",
  "nothing-better",
  "outside-window",
  "rests",
  "running",
  "out-of-balance",
  "under-way",
]);

function Shown({ schedule }: { schedule: RebalanceSchedule }) {
  const { decision, runs } = schedule;
  return (
    <>
      <div className="ps-card-body" style={{ display: "grid", gap: 8 }}>
        <p style={{ margin: 0 }}>
          <strong>{schedule.enabled ? say.on : say.off}.</strong>{" "}
          {schedule.enabled
            ? say.onText(schedule.threshold_percent, <Quantity of="byteRate" value={schedule.throttle_bytes_per_s} />)
            : say.offText}
        </p>
        {schedule.enabled && (
          <>
            <p className="ps-muted" style={{ margin: 0 }}>
              <Windows schedule={schedule} />
            </p>
            {schedule.looked_at && (
              <p className="ps-muted" style={{ margin: 0 }}>
                {say.figures(
                  <Far percent={schedule.bytes_percent} />,
                  <Far percent={schedule.leaders_percent} />,
                  <RelTime at={schedule.looked_at} />,
                )}
              </p>
            )}
            {decision ? (
              <Notice tone={QUIET.has(decision.code) ? "info" : "warn"} title={verdictText(decision)}>
                {say.lastLook(<RelTime at={decision.at} />)}
              </Notice>
            ) : (
              <p className="ps-muted" style={{ margin: 0 }}>
                {say.noLook}
              </p>
            )}
          </>
        )}
      </div>
      {runs.length > 0 ? <Runs runs={runs} /> : schedule.enabled && <Empty title={say.noRuns}>{say.noRunsText}</Empty>}
    </>
  );
}

function Windows({ schedule }: { schedule: RebalanceSchedule }) {
  if (schedule.windows.length === 0) return <>{say.anyTime}</>;
  return <>{schedule.window_open ? say.windowOpen : say.windowOpens(<RelTime at={schedule.window_opens_at} />)}</>;
}

const Far = ({ percent }: { percent: number | null }) => (
  <Quantity of="share" value={percent === null ? null : percent / 100} none={say.unknown} />
);

function Runs({ runs }: { runs: ScheduledRebalance[] }) {
  return (
    <div className="ps-table-wrap">
      <table className="ps-table" aria-label={say.runs}>
        <thead>
          <tr>
            <th scope="col">{say.began}</th>
            <th scope="col">{say.state}</th>
            <th scope="col">{say.why}</th>
            <th scope="col">{say.bytes}</th>
            <th scope="col">{say.leaders}</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={run.id}>
              <td>
                <RelTime at={run.began_at} />
              </td>
              <td>{say.states[run.state]}</td>
              <td style={{ overflowWrap: "anywhere", minWidth: "12rem" }}>
                {reasonText(run)} {run.result}{" "}
                <Link to="/operations/$operationId" params={{ operationId: run.operation_id }} className="ps-link">
                  {say.operation}
                </Link>
              </td>
              <td className="ps-tnum">
                <Change run={run} before={run.bytes_before} after={run.bytes_after} />
              </td>
              <td className="ps-tnum">
                <Change run={run} before={run.leaders_before} after={run.leaders_after} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Change({ run, before, after }: { run: ScheduledRebalance; before: number | null; after: number | null }) {
  if (run.state === "running") return <Far percent={before} />;
  return <>{say.fromTo(<Far percent={before} />, <Far percent={after} />)}</>;
}
