import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { formatExact, toDate } from "@/lib/format";
import { kindWord, subjectOf } from "@/lib/timeline";
import type { TimelineEvent } from "@/lib/types";
import { words } from "@/words/late-parts";
import { BrokerLink } from "./broker-link";
import { actorName } from "./operation-list";
import { RelTime } from "./rel-time";
import { Status, type Tone } from "./status";

const say = words.eventList;

const TONES: Record<TimelineEvent["tone"], Tone> = { good: "ok", bad: "bad", warn: "warn", neutral: "muted" };

interface EventListProps {
  events: TimelineEvent[];
  label?: string;
  /** With numbers, as a chart's marks have them. */
  numbered?: boolean;
  /** What may be done with an event, behind its time. */
  action?: (event: TimelineEvent) => ReactNode;
}

/** Events, newest first: what happened, in one sentence, when, and where it leads. */
export function EventList({ events, label = say.events, numbered = false, action }: EventListProps) {
  const List = numbered ? "ol" : "ul";
  return (
    <List className="ps-events" aria-label={label}>
      {events.map((event, index) => (
        <li key={event.id}>
          <Status tone={TONES[event.tone]} label={kindWord(event.kind)} />
          <span style={{ minWidth: 0, overflowWrap: "anywhere" }}>
            {numbered && <strong className="ps-tnum">{index + 1}. </strong>}
            {event.text} <Where event={event} />
            {event.by && <span className="ps-muted"> {say.by(actorName(event.by))}</span>}
          </span>
          <span className="ps-alerts-end">
            <When event={event} />
            {action?.(event)}
          </span>
        </li>
      ))}
    </List>
  );
}

/** The page of what it is about, or of what did it. */
function Where({ event }: { event: TimelineEvent }) {
  const { cluster_id: clusterId, operation_id: operationId, alert_id: alertId } = event;
  if (operationId !== null) {
    return (
      <Link to="/operations/$operationId" params={{ operationId }} className="ps-link">
        {say.openOperation}
      </Link>
    );
  }
  if (alertId !== null) {
    return (
      <Link to="/alerts/$alertId" params={{ alertId }} className="ps-link">
        {say.openAlert}
      </Link>
    );
  }
  const about = subjectOf(event);
  if (clusterId === null || about === null || event.kind === "topic-deleted") return null;
  if (about.area === "topic") {
    return (
      <Link to="/clusters/$clusterId/topics/$topic" params={{ clusterId, topic: about.name }} className="ps-link">
        {say.openTopic}
      </Link>
    );
  }
  if (about.area === "broker") {
    return (
      <BrokerLink clusterId={clusterId} id={about.name} className="ps-link">
        {say.openBroker}
      </BrokerLink>
    );
  }
  if (about.area !== "group") return null;
  return (
    <Link to="/clusters/$clusterId/groups/$group" params={{ clusterId, group: about.name }} className="ps-link">
      {say.openGroup}
    </Link>
  );
}

/** When it was seen; of what was observed also when it was last seen otherwise. */
function When({ event }: { event: TimelineEvent }) {
  const before = toDate(event.not_before);
  const note = before ? say.seenThen(formatExact(before)) : undefined;
  return (
    <span className="ps-muted" title={note}>
      <RelTime at={event.at} />
      {note && <span className="ps-sr">, {note}</span>}
    </span>
  );
}
