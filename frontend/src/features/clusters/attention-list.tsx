import { Button } from "@mantine/core";
import { IconFileDescription } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { AlertState, SeverityMark } from "@/components/alert-marks";
import { Breakable } from "@/components/breakable";
import { BrokerLink } from "@/components/broker-link";
import { Card } from "@/components/card";
import { RelTime } from "@/components/rel-time";
import type { Attention, PlanRequest } from "@/lib/types";
import { words } from "@/words/overview";

const say = words.attentionList;

// The dialog with all of a plan's review is a third of what the first view may load: it comes when asked for.
const PlanFlow = lazy(() => import("@/components/plan-flow").then((module) => ({ default: module.PlanFlow })));

/** How many are shown before somebody asks for the rest. */
const SHOWN = 8;

interface AttentionListProps {
  items: Attention[];
  /** Only of this cluster: its name is not said again. */
  clusterId?: string;
}

/** What is wrong, the most harmful first, each with its age, its runbook and the plan that may be next. */
export function AttentionList({ items, clusterId }: AttentionListProps) {
  const [all, setAll] = useState(false);
  const [planned, setPlanned] = useState<Attention | null>(null);
  // What was opened once stays mounted, so that closing it gives the focus back.
  const [wanted, setWanted] = useState(false);
  const plan = (item: Attention) => {
    setPlanned(item);
    setWanted(true);
  };
  const rest = items.length - SHOWN;
  return (
    <Card
      title={say.needsAttention(items.length)}
      aside={
        <Link to="/alerts" search={{ cluster: clusterId }} className="ps-link" style={{ fontSize: "0.8125rem" }}>
          {say.allAlerts}
        </Link>
      }
    >
      <ul className="ps-alerts" aria-label={say.needsAttention2}>
        {(all ? items : items.slice(0, SHOWN)).map((item) => (
          <li key={item.key}>
            <SeverityMark severity={item.severity} />
            <Line item={item} onPlan={() => plan(item)} />
            <Age item={item} />
          </li>
        ))}
      </ul>
      {rest > 0 && (
        <div className="ps-toolbar-foot">
          <Button variant="subtle" size="compact-sm" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? say.showTheMostHarmfulAlone : say.showMore(rest)}
          </Button>
        </div>
      )}
      {wanted && (
        <Suspense>
          <PlanFlow
            request={planned && planOf(planned)}
            title={planned?.next?.title ?? ""}
            onClose={() => setPlanned(null)}
          />
        </Suspense>
      )}
    </Card>
  );
}

/** The plan that the server offers, as it takes it. */
function planOf({ next }: Attention): PlanRequest | null {
  if (next === null) return null;
  const { kind, cluster_id, inputs } = next;
  return { kind, cluster_id, inputs } as PlanRequest;
}

function Line({ item, onPlan }: { item: Attention; onPlan: () => void }) {
  return (
    <span style={{ minWidth: 0, overflowWrap: "anywhere" }}>
      {item.alert_id !== null ? (
        <Link to="/alerts/$alertId" params={{ alertId: item.alert_id }} className="ps-link">
          {item.text}
        </Link>
      ) : (
        item.text
      )}
      <span className="ps-attention-ways">
        <Subject item={item} />
        {item.runbook !== null && (
          <Link
            to="/runbooks/$runbookId"
            params={{ runbookId: item.runbook }}
            search={runbookAbout(item)}
            className="ps-link"
          >
            {say.followTheRunbook}
          </Link>
        )}
        {item.next && (
          <Button
            variant="default"
            size="compact-xs"
            leftSection={<IconFileDescription size={13} aria-hidden />}
            title={say.showsThePlanNothingIs}
            onClick={onPlan}
          >
            {say.plan(item.next.title)}
          </Button>
        )}
      </span>
    </span>
  );
}

/** What a run of the runbook is about: the alert says it, else the row itself. */
const runbookAbout = (item: Attention) => ({
  alert: item.alert_id ?? undefined,
  ...(item.alert_id === null ? { cluster: item.cluster_id ?? undefined, group: item.group ?? undefined } : {}),
});

function Subject({
  item: { broker, cluster_id: clusterId, cluster_name, group, topic, operation_id: operationId },
}: {
  item: Attention;
}) {
  if (operationId !== null) {
    return (
      <Link to="/operations/$operationId" params={{ operationId }} className="ps-link">
        {say.openOperation}
      </Link>
    );
  }
  if (clusterId === null) return null;
  if (group !== null) {
    return (
      <Link to="/clusters/$clusterId/groups/$group" params={{ clusterId, group }} className="ps-link">
        {say.group(<Breakable text={group} />)}
      </Link>
    );
  }
  if (topic !== null) {
    return (
      <Link to="/clusters/$clusterId/topics/$topic" params={{ clusterId, topic }} className="ps-link">
        {say.topic(<Breakable text={topic} />)}
      </Link>
    );
  }
  if (broker !== null) {
    return (
      <BrokerLink clusterId={clusterId} id={broker} className="ps-link">
        {say.broker(broker)}
      </BrokerLink>
    );
  }
  return (
    <Link to="/clusters/$clusterId" params={{ clusterId }} className="ps-link">
      {say.cluster(<Breakable text={cluster_name ?? clusterId} />)}
    </Link>
  );
}

/** Since when it holds, and where it stands. */
function Age({ item }: { item: Attention }) {
  const at = item.since ?? item.as_of;
  return (
    <span className="ps-alerts-end">
      {item.state === "seen" ? (
        item.rule !== null && <span className="ps-tag">{say.justSeen}</span>
      ) : (
        <AlertState
          alert={{
            state: item.state,
            unknown: item.unknown,
            clearing: false,
            silenced_by: item.silenced ? "silence" : null,
          }}
        />
      )}{" "}
      {at !== null && (
        <span className="ps-muted">{(item.since === null ? say.seen : say.since)(<RelTime at={at} />)}</span>
      )}
    </span>
  );
}
