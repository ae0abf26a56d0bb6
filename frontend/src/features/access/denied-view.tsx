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
import { formatInteger } from "@/lib/format";
import { onOneLine } from "@/lib/hostile";
import { ApiError } from "@/lib/problem";
import { words } from "@/words/access";
import { operationWords, typeWords } from "@/lib/acl-words";
import { type AclInput } from "./acl-words";
import { grantFor } from "./denied-grant";

const say = words.deniedView;

interface DeniedViewProps {
  clusterId: string;
  /** The service's own users; null while that is not known. */
  managed: string[] | null;
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
        <Empty icon={<IconServerOff size={20} />} title={say.runByOthers}>
          {say.whoeverRunsTheHostsHasIt}
        </Empty>
      </Card>
    );
  return (
    <Card
      title={say.deniedAttempts}
      aside={
        <Button
          size="xs"
          variant="default"
          leftSection={<IconRefresh size={14} />}
          loading={query.isFetching && !query.isFetchingNextPage}
          onClick={again}
        >
          {say.lookAgain}
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
                {say.showMore}
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
      <Notice tone="warn" title={say.nothingIsKnownOf(unknown.length)}>
        <ul style={{ margin: "4px 0", paddingLeft: 18 }}>
          {unknown.map((row) => (
            <li key={row.id}>{say.brokerUnknownBecause(row.id, row.unknown_because)}</li>
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
      <span>{say.readOnTheHosts(<RelTime at={at} />)}</span>
      {known.map((row) => (
        <span key={row.id}>
          {row.since_ms === null
            ? say.logIsEmpty(row.id)
            : (row.is_whole ? say.logBegins : say.lookedAtSince)(row.id, <RelTime at={row.since_ms} />)}
        </span>
      ))}
      {leftOut > 0 && <span>{say.notListed(leftOut)}</span>}
      {heldBack > 0 && <span className="ps-warn">{say.notWritten(heldBack)}</span>}
    </div>
  );
}

const EVENTS: Record<DeniedAttempt["event"], string> = say.events;

const column = createColumnHelper<DeniedAttempt>();
const columns = ({ managed, canWrite, onGrant }: DeniedViewProps) => [
  column.accessor("last_ms", { header: say.last, cell: (cell) => <RelTime at={cell.getValue()} /> }),
  column.accessor("principal", {
    header: say.principal,
    cell: (cell) => (
      <span className="ps-mono">
        <Breakable text={onOneLine(cell.getValue())} />
      </span>
    ),
  }),
  column.accessor((row) => `${row.operation} ${row.resource_type ?? ""} ${row.resource_name}`, {
    id: "what",
    header: say.what,
    cell: ({ row: { original } }) => (
      <>
        <span title={say.request(onOneLine(original.api))}>
          {original.event === "denied" ? operationWords(original.operation) : EVENTS[original.event]}
        </span>{" "}
        <span className="ps-muted">{original.resource_type && typeWords(original.resource_type)}</span>{" "}
        <span className="ps-mono">
          <Breakable text={onOneLine(original.resource_name)} />
        </span>
      </>
    ),
  }),
  column.accessor("host", {
    header: say.from,
    meta: { hideBelow: "sm" },
    cell: (cell) => <span className="ps-mono">{onOneLine(cell.getValue())}</span>,
  }),
  column.accessor("count", {
    header: say.times,
    meta: { align: "right" },
    cell: ({ row: { original } }) => (
      <span title={say.sinceByBrokers(new Date(original.first_ms).toISOString(), original.brokers.join(", "))}>
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
            const acl = grantFor(original, managed);
            return (
              acl && (
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={say.grantThisTo(
                    original.principal,
                    operationWords(original.operation),
                    original.resource_name,
                  )}
                  onClick={() => onGrant(original.principal, acl)}
                >
                  {say.grantThis}
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
      label={say.deniedAttempts}
      defaultSort="-last_ms"
      view={props.view}
      onView={props.onView}
      empty={
        <Empty icon={<IconShieldCheck size={20} />} title={say.nothingWasDenied}>
          {say.inThePartLookedAt}
        </Empty>
      }
    />
  );
}
