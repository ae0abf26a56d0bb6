import { Button, Textarea } from "@mantine/core";
import { IconBellOff, IconBook2, IconCheck } from "@tabler/icons-react";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { AlertState, SeverityMark } from "@/components/alert-marks";
import { BrokerLink } from "@/components/broker-link";
import { ButtonLink } from "@/components/button-link";
import { Card, Lines } from "@/components/card";
import { FormModal } from "@/components/form-modal";
import { GroupLink } from "@/components/group-link";
import { Notice } from "@/components/notice";
import { actorName } from "@/components/operation-list";
import { PageHeader } from "@/components/page-header";
import { ProblemPanel } from "@/components/problem-panel";
import { Reading } from "@/components/quantity";
import { Refused } from "@/components/refused";
import { RelTime } from "@/components/rel-time";
import { type Stat, Stats, StatsSkeleton } from "@/components/stats";
import { useChange } from "@/lib/administration";
import { aboutOf, useAlert } from "@/lib/alerts";
import { api } from "@/lib/api-client";
import { formatInteger } from "@/lib/format";
import { isRefusal } from "@/lib/problem";
import { readingExact, readingLabel, readingValue } from "@/lib/readings";
import { useSession } from "@/lib/session";
import type { AlertDetail } from "@/lib/types";
import { ruleTitle } from "@/lib/rule-names";
import { words } from "@/words/alerts";
import { AlertDeliveries } from "./alert-deliveries";
import { AlertHistory } from "./alert-history";
import { SilenceForm } from "./silence-form";

const say = words.alertPage;

const route = getRouteApi("/app/alerts/$alertId");

const AFFECTED: Record<string, (amount: number) => string> = words.affected;
/** "topics", of one "topic". */
const unitOf = (count: number, unit: string): string => AFFECTED[unit]?.(count) ?? unit;

function figures(alert: AlertDetail): Stat[] {
  return [
    { label: say.severity, value: <SeverityMark severity={alert.severity} />, note: say.byTheHarmThatIt },
    {
      label: say.since,
      value: <RelTime at={alert.started_at} />,
      note: alert.fired_at ? <>{say.fired(<RelTime at={alert.fired_at} />)}</> : say.noNotificationYet,
    },
    {
      label: say.affected,
      value: formatInteger(alert.member_count),
      note: alert.unit ? unitOf(alert.member_count, alert.unit) : say.theWholeOfIt,
    },
    {
      label: say.fired2,
      value: `${formatInteger(alert.times_fired)}×`,
      note: say.sinceItBegan,
    },
    {
      label: alert.state === "resolved" ? say.resolved : say.acknowledgedBy,
      value:
        alert.state === "resolved" ? (
          <RelTime at={alert.resolved_at} />
        ) : alert.acknowledged_by ? (
          actorName(alert.acknowledged_by)
        ) : (
          say.nobody
        ),
      note: alert.state === "acknowledged" ? <>{say.since2(<RelTime at={alert.acknowledged_at} />)}</> : undefined,
    },
  ];
}

export function AlertPage() {
  const { alertId } = route.useParams();
  const query = useAlert(alertId);
  const { data: session } = useSession();
  const [form, setForm] = useState<"acknowledge" | "silence" | null>(null);
  const alert = query.data;
  if (isRefusal(query)) return <Refused error={query.error} />;
  return (
    <>
      <PageHeader
        title={alert?.title ?? say.alert}
        mark={alert && <AlertState alert={alert} />}
        seen={query.dataUpdatedAt ? { as_of: new Date(query.dataUpdatedAt).toISOString() } : undefined}
        sub={alert && <Where alert={alert} />}
        actions={
          alert && (
            <>
              {alert.runbook && (
                <ButtonLink
                  variant="default"
                  to="/runbooks/$runbookId"
                  params={{ runbookId: alert.runbook }}
                  search={{ alert: alert.id }}
                  leftSection={<IconBook2 size={15} />}
                >
                  {say.runbook}
                </ButtonLink>
              )}
              {alert.state !== "resolved" && (
                <>
                  {session?.can_write_tenant && (
                    <Button
                      variant="default"
                      leftSection={<IconBellOff size={15} />}
                      onClick={() => setForm("silence")}
                      disabled={alert.silenced_by !== null}
                    >
                      {say.silence}
                    </Button>
                  )}
                  {session?.can_write && alert.state === "firing" && (
                    <Button leftSection={<IconCheck size={15} />} onClick={() => setForm("acknowledge")}>
                      {say.acknowledge}
                    </Button>
                  )}
                </>
              )}
            </>
          )
        }
      />
      <div className="ps-stack">
        {query.isPending && <StatsSkeleton />}
        {!alert && query.isError && <ProblemPanel error={query.error} onRetry={() => void query.refetch()} />}
        {alert && query.isError && <Notice tone="warn">{say.shownAsItWasIt}</Notice>}
        {alert ? <Found alert={alert} /> : query.isPending && <Lines rows={6} />}
      </div>
      {alert && form === "acknowledge" && <AcknowledgeForm alert={alert} onClose={() => setForm(null)} />}
      {alert && form === "silence" && (
        <SilenceForm
          onClose={() => setForm(null)}
          start={{ rule: alert.rule, cluster_id: alert.cluster_id, subject: alert.subject }}
        />
      )}
    </>
  );
}

/** What it is about, each a link to its page. */
function Where({ alert }: { alert: AlertDetail }) {
  const { group, topic, operation } = aboutOf(alert);
  const clusterId = alert.cluster_id;
  return (
    <>
      {clusterId ? (
        <Link to="/clusters/$clusterId" params={{ clusterId }} className="ps-link">
          {alert.cluster ?? clusterId}
        </Link>
      ) : (
        say.theTenant
      )}
      {clusterId && group && <> {say.group(<GroupLink clusterId={clusterId} group={group} />)}</>}
      {clusterId && topic && (
        <>
          {" "}
          {say.topic(
            <Link to="/clusters/$clusterId/topics/$topic" params={{ clusterId, topic }} className="ps-link ps-mono">
              {topic}
            </Link>,
          )}
        </>
      )}
      {operation && (
        <>
          {" · "}
          <Link to="/operations/$operationId" params={{ operationId: operation }} className="ps-link ps-mono">
            {operation}
          </Link>
        </>
      )}
    </>
  );
}

function Found({ alert }: { alert: AlertDetail }) {
  const values = Object.entries(alert.values);
  return (
    <>
      <div style={{ fontSize: "0.9375rem", overflowWrap: "anywhere" }}>{alert.summary}</div>
      {alert.unknown && alert.state !== "resolved" && (
        <Notice tone="warn" title={say.notKnownNow}>
          {say.itCouldNotBeAsked}
        </Notice>
      )}
      {alert.note && (
        <Notice
          tone="info"
          title={say.noteOf(alert.acknowledged_by ? actorName(alert.acknowledged_by) : say.whoeverAcknowledgedIt)}
        >
          {alert.note}
        </Notice>
      )}
      <Stats items={figures(alert)} />
      <div className="ps-cols-1-1">
        <Card title={say.byWhatItHolds} padded>
          {values.length === 0 ? (
            <span className="ps-muted">{say.theRuleGivesNoNumbers}</span>
          ) : (
            <dl className="ps-kv">
              {values.map(([name, value]) => (
                <div key={name} style={{ display: "contents" }}>
                  <dt>{readingLabel(name)}</dt>
                  <dd className={value === null ? "ps-muted" : undefined}>
                    <Reading words={readingValue(name, value)} exact={readingExact(name, value)} />
                  </dd>
                </div>
              ))}
            </dl>
          )}
        </Card>
        <Card title={say.whatIsAffected} padded>
          <Affected alert={alert} />
        </Card>
      </div>
      <Card title={say.history}>
        <AlertHistory rows={alert.history} />
      </Card>
      <AlertDeliveries alertId={alert.id} />
    </>
  );
}

/** What is affected, with the way to its page where it has one. */
function Member({ alert: { cluster_id: clusterId, unit }, name }: { alert: AlertDetail; name: string }) {
  if (clusterId === null) return <>{name}</>;
  if (unit === "topics") {
    return (
      <Link to="/clusters/$clusterId/topics/$topic" params={{ clusterId, topic: name }} className="ps-link">
        {name}
      </Link>
    );
  }
  if (unit === "groups") return <GroupLink clusterId={clusterId} group={name} />;
  const broker = unit === "brokers" ? /^(?:broker )?(\d+)$/.exec(name)?.[1] : undefined;
  if (broker === undefined) return <>{name}</>;
  return <BrokerLink clusterId={clusterId} id={broker} />;
}

function Affected({ alert }: { alert: AlertDetail }) {
  const more = alert.member_count - alert.members.length;
  if (alert.members.length === 0 && alert.consequences.length === 0)
    return <span className="ps-muted">{alert.subject || say.theWholeOfItNo}</span>;
  return (
    <>
      {alert.members.length > 0 && (
        <ul className="ps-members" aria-label={say.affected}>
          {alert.members.map((name) => (
            <li key={name} className="ps-mono">
              <Member alert={alert} name={name} />
            </li>
          ))}
          {more > 0 && <li className="ps-muted">{say.andMore(more)}</li>}
        </ul>
      )}
      {alert.consequences.length > 0 && (
        <>
          <div className="ps-caption" style={{ marginTop: 10 }}>
            {say.explainedByItAndWithout}
          </div>
          <dl className="ps-kv">
            {alert.consequences.map((row) => (
              <div key={row.rule} style={{ display: "contents" }}>
                <dt title={row.rule}>{ruleTitle(row.rule)}</dt>
                <dd>{formatInteger(row.count)}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </>
  );
}

function AcknowledgeForm({ alert, onClose }: { alert: AlertDetail; onClose: () => void }) {
  const [note, setNote] = useState("");
  const send = useChange(
    () =>
      api.post("/api/v1/alerts/{alert_id}/acknowledgement", {
        blanks: { alert_id: alert.id },
        body: { note },
        ifMatch: alert.etag,
      }),
    () => say.acknowledgedItFiresAgainWhen,
  );
  return (
    <FormModal
      title={say.acknowledge}
      opened
      onClose={onClose}
      submit={say.acknowledge}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <p style={{ margin: 0 }}>{say.youSayThatYouAre}</p>
      <Textarea
        label={say.note}
        description={say.optionalShownWithTheAlert}
        maxLength={500}
        autosize
        minRows={2}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
    </FormModal>
  );
}
