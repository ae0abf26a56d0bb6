import { Link } from "@tanstack/react-router";
import { byHarm, concerns, useOpenAlerts } from "@/lib/alerts";
import { isRefusal } from "@/lib/problem";
import type { Alert } from "@/lib/types";
import { words } from "@/words/late-parts";
import { AlertState, SeverityMark } from "./alert-marks";
import { Card } from "./card";
import { Notice } from "./notice";
import { RelTime } from "./rel-time";

const say = words.alertsHere;

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
    return <Notice tone="warn">{say.whetherAlertsFireHereCould}</Notice>;
  }
  const rows = data.data.filter((alert) => !about || concerns(alert, about.area, about.name)).sort(byHarm);
  if (rows.length === 0) {
    if (!data.page.has_more) return null;
    return <Notice tone="info">{say.theNewestAlertsOfThe(data.data.length)}</Notice>;
  }
  return (
    <Card
      title={(data.page.has_more ? say.openAlertsOrMore : say.openAlerts)(rows.length)}
      aside={
        <Link to="/alerts" search={{ cluster: clusterId }} className="ps-link" style={{ fontSize: "0.8125rem" }}>
          {say.allAlertsOfTheCluster}
        </Link>
      }
    >
      <ul className="ps-alerts" aria-label={say.openAlerts2}>
        {rows.slice(0, SHOWN).map((alert) => (
          <li key={alert.id}>
            <AlertLine alert={alert} />
          </li>
        ))}
      </ul>
      {rows.length > SHOWN && <div className="ps-legend">{say.andMore(rows.length - SHOWN)}</div>}
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
            {say.runbook}
          </Link>
        )}
      </span>
      <span className="ps-alerts-end">
        <AlertState alert={alert} /> <span className="ps-muted">{say.since(<RelTime at={alert.started_at} />)}</span>
      </span>
    </>
  );
}
