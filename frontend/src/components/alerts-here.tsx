import { Link } from "@tanstack/react-router";
import { byHarm, concerns, useOpenAlerts } from "@/lib/alerts";
import { plural } from "@/lib/format";
import { isRefusal } from "@/lib/problem";
import type { Alert } from "@/lib/types";
import { AlertState, SeverityMark } from "./alert-marks";
import { Card } from "./card";
import { Notice } from "./notice";
import { RelTime } from "./rel-time";

/** How many are listed on the page of what they are about; the list of alerts has the rest. */
const SHOWN = 5;

interface AlertsHereProps {
  clusterId: string;
  /** Of one topic or group; else of the whole cluster. */
  about?: { area: "group" | "topic"; name: string };
}

/** The open alerts of a cluster, a topic or a group, on its page. None: nothing is shown. */
export function AlertsHere({ clusterId, about }: AlertsHereProps) {
  const query = useOpenAlerts(clusterId);
  const { data } = query;
  if (!data) {
    if (!query.isError || isRefusal(query)) return null;
    return <Notice tone="warn">Whether alerts fire here could not be read; it is tried again.</Notice>;
  }
  const rows = data.data.filter((alert) => !about || concerns(alert, about.area, about.name)).sort(byHarm);
  if (rows.length === 0) {
    if (!data.page.has_more) return null;
    return (
      <Notice tone="info">
        The newest {data.data.length} alerts of the cluster say nothing of it; older ones were not looked at.
      </Notice>
    );
  }
  return (
    <Card
      title={`${plural(rows.length, "open alert")}${data.page.has_more ? " or more" : ""}`}
      aside={
        <Link to="/alerts" search={{ cluster: clusterId }} className="ps-link" style={{ fontSize: "0.8125rem" }}>
          All alerts of the cluster
        </Link>
      }
    >
      <ul className="ps-alerts" aria-label="Open alerts">
        {rows.slice(0, SHOWN).map((alert) => (
          <li key={alert.id}>
            <AlertLine alert={alert} />
          </li>
        ))}
      </ul>
      {rows.length > SHOWN && <div className="ps-legend">and {plural(rows.length - SHOWN, "more", "more")}</div>}
    </Card>
  );
}

function AlertLine({ alert }: { alert: Alert }) {
  return (
    <>
      <SeverityMark severity={alert.severity} />
      <span style={{ minWidth: 0, overflowWrap: "anywhere" }}>
        <Link to="/alerts/$alertId" params={{ alertId: alert.id }} className="ps-link">
          {alert.summary}
        </Link>{" "}
        {alert.runbook && (
          <Link
            to="/runbooks/$runbookId"
            params={{ runbookId: alert.runbook }}
            search={{ alert: alert.id }}
            className="ps-muted"
          >
            Runbook
          </Link>
        )}
      </span>
      <span className="ps-alerts-end">
        <AlertState alert={alert} />{" "}
        <span className="ps-muted">
          since <RelTime at={alert.started_at} />
        </span>
      </span>
    </>
  );
}
