import { Button } from "@mantine/core";
import { IconCircleCheck } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import { AlertState, SeverityMark } from "@/components/alert-marks";
import { Card } from "@/components/card";
import { DataTable } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { ListView } from "@/components/list-view";
import { RelTime } from "@/components/rel-time";
import { useChange } from "@/lib/administration";
import { severityRank } from "@/lib/alerts";
import { api } from "@/lib/api-client";
import { useHostAlerts } from "@/lib/host-alerts";
import { showProblem } from "@/lib/problem-notice";
import { runbookTitle } from "@/lib/rule-names";
import type { HostAlert } from "@/lib/types";
import { words } from "@/words/platform";

const say = words.hostAlerts;
const column = createColumnHelper<HostAlert>();

const columns = (ofOneHost: boolean) => [
  column.accessor((alert) => severityRank(alert.severity), {
    id: "severity",
    header: say.severity,
    cell: ({ row }) => <SeverityMark severity={row.original.severity} />,
  }),
  column.accessor("summary", {
    header: say.whatIsWrong,
    cell: ({ row: { original: alert } }) => (
      <div style={{ overflowWrap: "anywhere", padding: "3px 0" }}>
        {ofOneHost || alert.host_id === null ? (
          alert.summary
        ) : (
          <Link to="/platform/hosts/$hostId" params={{ hostId: alert.host_id }} className="ps-link">
            {alert.summary}
          </Link>
        )}
        <div style={{ fontSize: "0.75rem" }}>
          {say.runbook}{" "}
          <Link to="/runbooks/$runbookId" params={{ runbookId: alert.runbook }} className="ps-link">
            {runbookTitle(alert.runbook)}
          </Link>
        </div>
        <div className="ps-only-sm" style={{ marginTop: 3 }}>
          <AlertState alert={{ ...alert, silenced_by: null }} />{" "}
          <span className="ps-muted">{say.since(<RelTime at={alert.started_at} />)}</span>
        </div>
      </div>
    ),
  }),
  column.accessor("state", {
    header: say.state,
    meta: { hideBelow: "sm" },
    cell: ({ row: { original: alert } }) => (
      <>
        <AlertState alert={{ ...alert, silenced_by: null }} />
        {alert.acknowledged_by !== null && (
          <div className="ps-muted ps-mono" style={{ fontSize: "0.75rem" }}>
            {alert.acknowledged_by}
          </div>
        )}
      </>
    ),
  }),
  column.accessor("started_at", {
    header: say.sinceWord,
    meta: { hideBelow: "sm" },
    cell: ({ getValue }) => <RelTime at={getValue()} />,
  }),
  column.display({
    id: "actions",
    header: () => <span className="ps-sr">{say.actions}</span>,
    meta: { align: "right" },
    cell: ({ row }) => row.original.state === "firing" && <Acknowledge alert={row.original} />,
  }),
];

function Acknowledge({ alert }: { alert: HostAlert }) {
  const send = useChange(
    () =>
      api.post("/api/v1/operator/alerts/{host_alert_id}/acknowledgement", {
        blanks: { host_alert_id: alert.id },
        body: { note: "" },
      }),
    () => say.itIsAcknowledged,
  );
  return (
    <Button
      variant="default"
      size="compact-xs"
      loading={send.isPending}
      aria-label={say.acknowledgeOf(alert.summary)}
      onClick={() => send.mutate(undefined, { onError: showProblem })}
    >
      {say.acknowledge}
    </Button>
  );
}

/** What fires about hosts: all of them, or one. Of one that is well nothing is in the way. */
export function HostAlerts({ hostId }: { hostId?: string }) {
  const query = useHostAlerts(hostId);
  const isQuiet = hostId !== undefined && !query.isError && !query.data?.data.length;
  if (isQuiet) return null;
  return (
    <Card title={say.alerts}>
      <ListView query={query}>
        {(rows) => (
          <DataTable
            rows={rows}
            columns={columns(hostId !== undefined)}
            rowId={(row) => row.id}
            label={say.alerts}
            defaultSort="-severity"
            empty={
              <Empty icon={<IconCircleCheck size={20} />} title={say.nothingFires}>
                {say.aHostThatIsSilent}
              </Empty>
            }
          />
        )}
      </ListView>
    </Card>
  );
}
