import { Button } from "@mantine/core";
import { IconClipboardList } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Fragment, useState } from "react";
import { Card, Lines } from "@/components/card";
import { CodeBlock } from "@/components/copy";
import { Empty } from "@/components/empty";
import { actorName } from "@/components/operation-list";
import { PageHeader } from "@/components/page-header";
import { ProblemPanel } from "@/components/problem-panel";
import { RelTime } from "@/components/rel-time";
import { SearchBox } from "@/components/search-box";
import { Status } from "@/components/status";
import { api } from "@/lib/api-client";
import { isKind, kindLabel } from "@/lib/kinds";
import type { AuditEvent } from "@/lib/types";

const route = getRouteApi("/app/audit");

function useAudit() {
  return useInfiniteQuery({
    queryKey: ["page", "audit"],
    queryFn: ({ pageParam, signal }) =>
      api.get("/api/v1/audit-events", { query: { page_size: 100, cursor: pageParam || undefined }, signal }),
    initialPageParam: "",
    getNextPageParam: (last) => last.page.next ?? undefined,
  });
}

const ACTIONS: Record<string, string> = {
  "session.login": "Signed in",
  "session.logout": "Signed out",
  "session.login_failed": "Sign-in refused",
  "api-key.create": "Made an API key",
  "api-key.revoke": "Revoked an API key",
  "api-key.rotate": "Exchanged an API key",
  "service-account.create": "Made a service account",
  "service-account.change": "Changed a service account",
  "member.add": "Added a member",
  "member.change": "Changed a member's role",
  "member.remove": "Removed a member",
  "invitation.create": "Made an invitation",
  "invitation.revoke": "Revoked an invitation",
  "invitation.accept": "Accepted an invitation",
  "user.create": "Made a user",
  "user.change": "Changed a user",
  "user.link": "Made a link to a password",
  "user.password-set": "Set a password by link",
  "user.password-change": "Changed the password",
  "user.link-oidc": "Linked a login to the OpenID provider",
  "tenant.create": "Made the tenant",
  "tenant.rename": "Renamed the tenant",
  "tenant.suspend": "Suspended the tenant",
  "tenant.resume": "Resumed the tenant",
  "tenant.close": "Closed the tenant",
  "platform.first-run": "Set up the platform",
  "secret.read": "Read a one-time password",
  "analytics.run": "Asked for an analytics run",
  "analytics.cancel": "Cancelled an analytics run",
};
const PHASES: Record<string, string> = { start: "started", cancel: "cancellation asked for" };

/** "topic.delete.succeeded" → "Delete topic: succeeded" */
function actionWords(action: string): string {
  const known = ACTIONS[action];
  if (known) return known;
  const cut = action.lastIndexOf(".");
  const kind = action.slice(0, cut);
  if (!isKind(kind)) return action;
  const phase = action.slice(cut + 1);
  return `${kindLabel(kind)}: ${PHASES[phase] ?? phase.replaceAll("_", " ")}`;
}

function Outcome({ outcome }: { outcome: string }) {
  if (outcome === "ok" || outcome === "succeeded") return <Status tone="ok" label={outcome} />;
  return <Status tone={outcome === "failed" || outcome === "refused" ? "bad" : "muted"} label={outcome} />;
}

function Row({ event }: { event: AuditEvent }) {
  const [open, setOpen] = useState(false);
  const operationId = typeof event.data?.operation_id === "string" ? event.data.operation_id : null;
  const hasData = Object.keys(event.data ?? {}).length > 0;
  return (
    <Fragment>
      <tr>
        <td>
          <RelTime at={event.at} />
        </td>
        <td>{actorName(event.actor)}</td>
        <td title={event.action}>{actionWords(event.action)}</td>
        <td className="ps-mono ps-hide-sm">{event.resource}</td>
        <td className="ps-hide-sm">
          <Outcome outcome={event.outcome} />
        </td>
        <td style={{ textAlign: "right", whiteSpace: "nowrap" }}>
          {operationId && (
            <Link
              to="/operations/$operationId"
              params={{ operationId }}
              className="ps-link ps-hide-sm"
              style={{ marginRight: 10 }}
            >
              Operation
            </Link>
          )}
          {hasData && (
            <Button variant="subtle" size="compact-xs" aria-expanded={open} onClick={() => setOpen(!open)}>
              {open ? "Less" : "More"}
            </Button>
          )}
        </td>
      </tr>
      {open && (
        <tr>
          <td colSpan={6}>
            <dl className="ps-kv" style={{ marginBottom: 8 }}>
              {event.reason && (
                <>
                  <dt>Reason</dt>
                  <dd>{event.reason}</dd>
                </>
              )}
              {operationId && (
                <>
                  <dt>Operation</dt>
                  <dd>
                    <Link to="/operations/$operationId" params={{ operationId }} className="ps-link ps-mono">
                      {operationId}
                    </Link>
                  </dd>
                </>
              )}
              <dt>On</dt>
              <dd className="ps-mono">{event.resource}</dd>
              {event.remote_address && (
                <>
                  <dt>From</dt>
                  <dd className="ps-mono">{event.remote_address}</dd>
                </>
              )}
            </dl>
            <CodeBlock label="Recorded data" text={JSON.stringify(event.data, null, 2)} />
          </td>
        </tr>
      )}
    </Fragment>
  );
}

export function AuditPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useAudit();
  const needle = search.q?.toLowerCase() ?? "";
  const all = query.data?.pages.flatMap((page) => page.data) ?? [];
  const rows = all.filter((event) =>
    `${event.actor} ${event.action} ${actionWords(event.action)} ${event.resource} ${event.reason ?? ""}`
      .toLowerCase()
      .includes(needle),
  );
  let body;
  if (query.isPending) body = <Lines rows={8} />;
  else if (query.isError && !query.data) {
    body = (
      <div className="ps-card-body">
        <ProblemPanel error={query.error} onRetry={() => void query.refetch()} />
      </div>
    );
  } else if (rows.length === 0) {
    body =
      all.length > 0 ? (
        <Empty title="No event matches">Older events can be loaded once the search is cleared.</Empty>
      ) : (
        <Empty icon={<IconClipboardList size={20} />} title="Nothing recorded yet">
          Sign-ins and every change leave a row here that cannot be edited.
        </Empty>
      );
  } else {
    body = (
      <div className="ps-table-wrap">
        <table className="ps-table" aria-label="Audit events">
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">Who</th>
              <th scope="col">Did</th>
              <th scope="col" className="ps-hide-sm">
                To
              </th>
              <th scope="col" className="ps-hide-sm">
                Outcome
              </th>
              <th scope="col">
                <span className="ps-sr">Details</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((event) => (
              <Row key={event.id} event={event} />
            ))}
          </tbody>
        </table>
      </div>
    );
  }
  return (
    <>
      <PageHeader title="Audit" sub="Who did what, when and why; newest first." />
      <Card>
        <div className="ps-toolbar">
          <SearchBox
            value={search.q ?? ""}
            label="Search loaded events"
            onChange={(q) => void navigate({ search: (old) => ({ ...old, q: q || undefined }), replace: true })}
          />
          {query.hasNextPage && (
            <Button
              variant="default"
              ml="auto"
              loading={query.isFetchingNextPage}
              onClick={() => void query.fetchNextPage()}
            >
              Load older
            </Button>
          )}
        </div>
        {body}
      </Card>
    </>
  );
}
