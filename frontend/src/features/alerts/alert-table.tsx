import { Link } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import type { ReactNode } from "react";
import { AlertState, SeverityMark } from "@/components/alert-marks";
import { DataTable, type TableView } from "@/components/data-table";
import { Quantity } from "@/components/quantity";
import { RelTime } from "@/components/rel-time";
import { byHarm, severityRank } from "@/lib/alerts";
import type { Alert } from "@/lib/types";
import { words } from "@/words/alerts";

const say = words.alertTable;

const column = createColumnHelper<Alert>();

const lasted = (alert: Alert): number | null =>
  alert.resolved_at === null ? null : (Date.parse(alert.resolved_at) - Date.parse(alert.started_at)) / 1000;

const columns = [
  column.accessor((alert) => severityRank(alert.severity), {
    id: "severity",
    header: say.severity,
    sortingFn: (left, right) => byHarm(right.original, left.original),
    cell: ({ row }) => <SeverityMark severity={row.original.severity} />,
  }),
  column.accessor("summary", {
    header: say.whatIsWrong,
    cell: ({ row: { original: alert } }) => (
      <div style={{ overflowWrap: "anywhere", padding: "3px 0" }}>
        <Link to="/alerts/$alertId" params={{ alertId: alert.id }} className="ps-link">
          {alert.summary}
        </Link>
        <div className="ps-only-sm" style={{ marginTop: 3 }}>
          <AlertState alert={alert} /> <span className="ps-muted">{say.since(<RelTime at={alert.started_at} />)}</span>
        </div>
      </div>
    ),
  }),
  column.accessor("state", {
    header: say.state,
    meta: { hideBelow: "sm" },
    cell: ({ row }) => <AlertState alert={row.original} />,
  }),
  column.accessor("started_at", {
    header: say.since2,
    meta: { hideBelow: "sm" },
    cell: ({ row: { original: alert } }) => (
      <>
        <RelTime at={alert.started_at} />
        {lasted(alert) !== null && (
          <span className="ps-muted">{say.forWord(<Quantity of="span" value={lasted(alert)} />)}</span>
        )}
      </>
    ),
  }),
  column.accessor((alert) => alert.acknowledged_by ?? "", {
    id: "by",
    header: say.acknowledgedBy,
    meta: { hideBelow: "md" },
    cell: ({ row: { original: alert } }) =>
      alert.state === "acknowledged" && alert.acknowledged_by ? (
        <span className="ps-mono">{alert.acknowledged_by}</span>
      ) : (
        <span className="ps-muted">–</span>
      ),
  }),
];

interface AlertTableProps {
  alerts: Alert[];
  view?: TableView;
  onView?: (view: TableView) => void;
  empty: ReactNode;
}

/** Alerts, the most harmful first. */
export function AlertTable({ alerts, view, onView, empty }: AlertTableProps) {
  return (
    <DataTable
      rows={alerts}
      columns={columns}
      rowId={(alert) => alert.id}
      label={say.alerts}
      defaultSort="-severity"
      view={view}
      onView={onView}
      empty={empty}
    />
  );
}
