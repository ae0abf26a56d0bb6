import { Button } from "@mantine/core";
import { IconRefresh, IconServerOff, IconShieldCheck } from "@tabler/icons-react";
import { createColumnHelper } from "@tanstack/react-table";
import { Breakable } from "@/components/breakable";
import { Card, Lines } from "@/components/card";
import { DataTable, type TableView } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { Notice } from "@/components/notice";
import { ProblemPanel } from "@/components/problem-panel";
import { RelTime } from "@/components/rel-time";
import { type AuditedBroker, type DeniedAttempt, useDeniedAttempts } from "@/lib/denied-attempts";
import { formatInteger, plural } from "@/lib/format";
import { onOneLine } from "@/lib/hostile";
import { ApiError } from "@/lib/problem";
import type { KafkaUser } from "@/lib/types";
import { type AclInput, operationWords } from "./acl-words";
import { grantFor } from "./denied-grant";

interface DeniedViewProps {
  clusterId: string;
  users: KafkaUser[];
  canWrite: boolean;
  view: TableView;
  onView: (view: TableView) => void;
  onGrant: (principal: string, acl: AclInput) => void;
}

/** Who was refused what, newest first; each may lead to the ACL that would have allowed it. */
export function DeniedView(props: DeniedViewProps) {
  const { query, again } = useDeniedAttempts(props.clusterId);
  const pages = query.data?.pages ?? [];
  const rows = pages.flatMap((page) => page.data);
  if (query.error instanceof ApiError && query.error.code === "brokers-of-others")
    return (
      <Card>
        <Empty icon={<IconServerOff size={20} />} title="Not available: its brokers are run by others">
          Brokers write what they deny to a log on their hosts, and Kafka gives it out by no request. Whoever runs the
          hosts has it.
        </Empty>
      </Card>
    );
  return (
    <Card
      title="Denied attempts"
      aside={
        <Button
          size="xs"
          variant="default"
          leftSection={<IconRefresh size={14} />}
          loading={query.isFetching && !query.isFetchingNextPage}
          onClick={again}
        >
          Look again
        </Button>
      }
    >
      {query.isPending && <Lines rows={6} />}
      {query.isError && (
        <div className="ps-card-body">
          <ProblemPanel
            error={query.error}
            onRetry={query.isFetchNextPageError ? () => void query.fetchNextPage() : again}
          />
        </div>
      )}
      {query.data && (
        <>
          <Unknown brokers={pages[0]?.brokers ?? []} />
          <Attempts rows={rows} {...props} />
          {query.hasNextPage && (
            <div className="ps-card-body">
              <Button
                size="xs"
                variant="default"
                loading={query.isFetchingNextPage}
                onClick={() => void query.fetchNextPage()}
              >
                Show more
              </Button>
            </div>
          )}
          <Reach brokers={pages[0]?.brokers ?? []} at={query.dataUpdatedAt} />
        </>
      )}
    </Card>
  );
}

function Unknown({ brokers }: { brokers: AuditedBroker[] }) {
  const unknown = brokers.filter((row) => row.unknown_because !== null);
  if (unknown.length === 0) return null;
  return (
    <div className="ps-card-body">
      <Notice tone="warn" title={`Of ${plural(unknown.length, "broker")} nothing is known`}>
        <ul style={{ margin: "4px 0", paddingLeft: 18 }}>
          {unknown.map((row) => (
            <li key={row.id}>
              Broker {row.id}: {row.unknown_because}
            </li>
          ))}
        </ul>
      </Notice>
    </div>
  );
}

/** How far back each log was looked at, and what is not in the list. */
function Reach({ brokers, at }: { brokers: AuditedBroker[]; at: number }) {
  const known = brokers.filter((row) => row.unknown_because === null);
  const heldBack = known.reduce((sum, row) => sum + (row.held_back ?? 0), 0);
  const leftOut = known.reduce((sum, row) => sum + (row.left_out ?? 0), 0);
  return (
    <div className="ps-legend" style={{ flexWrap: "wrap" }}>
      <span>
        Read on the hosts <RelTime at={at} />.
      </span>
      {known.map((row) => (
        <span key={row.id}>
          Broker {row.id}:{" "}
          {row.since_ms === null ? (
            "its log is empty"
          ) : (
            <>
              {row.is_whole ? "its log begins" : "looked at since"} <RelTime at={row.since_ms} />
            </>
          )}
          .
        </span>
      ))}
      {leftOut > 0 && <span>{plural(leftOut, "further attempt")} not listed.</span>}
      {heldBack > 0 && (
        <span className="ps-warn">
          {plural(heldBack, "line")} {heldBack === 1 ? "was" : "were"} not written, as too many came at once.
        </span>
      )}
    </div>
  );
}

const EVENTS: Record<DeniedAttempt["event"], string> = {
  denied: "denied",
  "login-failed": "login failed",
  "handshake-failed": "TLS refused",
};

const column = createColumnHelper<DeniedAttempt>();
const columns = ({ users, canWrite, onGrant }: DeniedViewProps) => [
  column.accessor("last_ms", { header: "Last", cell: (cell) => <RelTime at={cell.getValue()} /> }),
  column.accessor("principal", {
    header: "Principal",
    cell: (cell) => (
      <span className="ps-mono">
        <Breakable text={onOneLine(cell.getValue())} />
      </span>
    ),
  }),
  column.accessor((row) => `${row.operation} ${row.resource_type ?? ""} ${row.resource_name}`, {
    id: "what",
    header: "What",
    cell: ({ row: { original } }) => (
      <>
        <span title={`request ${onOneLine(original.api)}`}>
          {original.event === "denied" ? operationWords(original.operation) : EVENTS[original.event]}
        </span>{" "}
        <span className="ps-muted">{original.resource_type?.toLowerCase().replaceAll("_", " ")}</span>{" "}
        <span className="ps-mono">
          <Breakable text={onOneLine(original.resource_name)} />
        </span>
      </>
    ),
  }),
  column.accessor("host", {
    header: "From",
    meta: { hideBelow: "sm" },
    cell: (cell) => <span className="ps-mono">{onOneLine(cell.getValue())}</span>,
  }),
  column.accessor("count", {
    header: "Times",
    meta: { align: "right" },
    cell: ({ row: { original } }) => (
      <span title={`since ${new Date(original.first_ms).toISOString()}, by brokers ${original.brokers.join(", ")}`}>
        {formatInteger(original.count)}
      </span>
    ),
  }),
  ...(canWrite
    ? [
        column.display({
          id: "grant",
          header: "",
          cell: ({ row: { original } }) => {
            const acl = grantFor(original, users);
            return (
              acl && (
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={`Grant this: ${original.principal}, ${original.operation} on ${original.resource_name}`}
                  onClick={() => onGrant(original.principal, acl)}
                >
                  Grant this
                </Button>
              )
            );
          },
        }),
      ]
    : []),
];

function Attempts({ rows, ...props }: DeniedViewProps & { rows: DeniedAttempt[] }) {
  return (
    <DataTable
      rows={rows}
      columns={columns(props)}
      rowId={(row) =>
        [row.event, row.principal, row.operation, row.resource_type, row.resource_name, row.host].join("\n")
      }
      label="Denied attempts"
      defaultSort="-last_ms"
      view={props.view}
      onView={props.onView}
      empty={
        <Empty icon={<IconShieldCheck size={20} />} title="Nothing was denied">
          In the part of the brokers&apos; audit logs that was looked at; below it says how far back that is.
        </Empty>
      }
    />
  );
}
