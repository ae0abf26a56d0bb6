import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Fragment, type ReactNode, useId, useState } from "react";
import { CodeBlock } from "@/components/copy";
import { FieldDiff } from "@/components/diffs/field-diff";
import { actorName } from "@/components/operation-list";
import { RelTime } from "@/components/rel-time";
import { Status } from "@/components/status";
import { actionWords, outcomeWords } from "@/lib/audit";
import type { AuditEvent } from "@/lib/types";
import { words } from "@/words/audit";

const say = words.auditRow;

function Outcome({ outcome }: { outcome: string }) {
  if (outcome === "ok" || outcome === "succeeded") return <Status tone="ok" label={outcomeWords(outcome)} />;
  return (
    <Status tone={outcome === "failed" || outcome === "refused" ? "bad" : "muted"} label={outcomeWords(outcome)} />
  );
}

/** One event; what was recorded of it when asked to. */
export function AuditRow({ event }: { event: AuditEvent }) {
  const [open, setOpen] = useState(false);
  const details = useId();
  return (
    <Fragment>
      <tr>
        <td>
          <RelTime at={event.at} />
        </td>
        <td style={{ overflowWrap: "anywhere" }}>{actorName(event.actor)}</td>
        <td title={event.action}>{actionWords(event.action)}</td>
        <td className="ps-mono ps-hide-sm" style={{ overflowWrap: "anywhere" }}>
          {event.resource}
        </td>
        <td className="ps-hide-sm">
          <Outcome outcome={event.outcome} />
        </td>
        <td style={{ textAlign: "right", whiteSpace: "nowrap" }}>
          <Button
            variant="subtle"
            size="compact-xs"
            aria-expanded={open}
            aria-controls={details}
            onClick={() => setOpen(!open)}
          >
            {open ? say.less : say.more}
          </Button>
        </td>
      </tr>
      {open && (
        <tr id={details}>
          <td colSpan={6}>
            <Details event={event} />
          </td>
        </tr>
      )}
    </Fragment>
  );
}

function Details({ event }: { event: AuditEvent }) {
  const { before, after, operation_id, ...rest } = event.data as Record<string, unknown>;
  const operationId = typeof operation_id === "string" ? operation_id : null;
  const changed = before !== undefined || after !== undefined;
  return (
    <>
      <dl className="ps-kv" style={{ marginBottom: 8 }}>
        <Fact name={say.at}>{new Date(event.at).toLocaleString()}</Fact>
        <Fact name={say.action}>
          <span className="ps-mono">{event.action}</span>
        </Fact>
        <Fact name={say.on}>
          <span className="ps-mono">{event.resource}</span>
        </Fact>
        <Fact name={say.outcome}>{outcomeWords(event.outcome)}</Fact>
        {event.reason && <Fact name={say.reason}>{event.reason}</Fact>}
        {operationId && (
          <Fact name={say.operation}>
            <Link to="/operations/$operationId" params={{ operationId }} className="ps-link ps-mono">
              {operationId}
            </Link>
          </Fact>
        )}
        {event.remote_address && (
          <Fact name={say.from}>
            <span className="ps-mono">{event.remote_address}</span>
          </Fact>
        )}
        {event.credential && (
          <Fact name={say.by}>
            <span className="ps-mono">{event.credential}</span>
          </Fact>
        )}
        {event.request_id && (
          <Fact name={say.request}>
            <span className="ps-mono">{event.request_id}</span>
          </Fact>
        )}
      </dl>
      {changed && <FieldDiff before={before} after={after} past />}
      {Object.keys(rest).length > 0 && (
        <div style={{ marginTop: 8 }}>
          <CodeBlock label={changed ? say.alsoRecorded : say.recordedData} text={JSON.stringify(rest, null, 2)} />
        </div>
      )}
    </>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}
