import { Button } from "@mantine/core";
import { IconClipboardList } from "@tabler/icons-react";
import { getRouteApi } from "@tanstack/react-router";
import { Card, Lines } from "@/components/card";
import { Empty } from "@/components/empty";
import { Notice } from "@/components/notice";
import { PageHeader } from "@/components/page-header";
import { ProblemPanel } from "@/components/problem-panel";
import { Refused } from "@/components/refused";
import { isFiltered, useAudit } from "@/lib/audit";
import { isRefusal } from "@/lib/problem";
import { type AuditSearch, auditSearch } from "@/lib/search";
import type { AuditEvent } from "@/lib/types";
import { words } from "@/words/audit";
import { useExport } from "./audit-export";
import { AuditFilters, NOTHING } from "./audit-filters";
import { AuditRow } from "./audit-row";

const say = words.auditPage;

const route = getRouteApi("/app/audit");

export function AuditPage() {
  // The router leaves in what it does not know; the server would refuse it.
  const search = auditSearch(route.useSearch());
  const navigate = route.useNavigate();
  const query = useAudit(search);
  const file = useExport(search);
  const rows = query.data?.pages.flatMap((page) => page.data) ?? [];
  const change = (filters: AuditSearch) => {
    file.forget();
    void navigate({ search: (old) => ({ ...old, ...filters }), replace: true });
  };
  if (isRefusal(query)) return <Refused error={query.error} />;
  let body;
  if (query.isPending) body = <Lines rows={8} />;
  else if (!query.data) {
    body = (
      <div className="ps-card-body">
        <ProblemPanel error={query.error} onRetry={() => void query.refetch()} />
      </div>
    );
  } else if (rows.length > 0) body = <Events rows={rows} />;
  else body = <NoRows isLast={!query.hasNextPage} filtered={isFiltered(search)} onClear={() => change(NOTHING)} />;
  return (
    <>
      <PageHeader title={say.audit} sub={say.whoDidWhatAndWhat} actions={file.button} />
      <Card>
        <AuditFilters search={search} actors={[...new Set(rows.map((row) => row.actor))]} onChange={change} />
        {file.outcome && <div className="ps-card-body">{file.outcome}</div>}
        {query.isError && query.data && (
          <div className="ps-card-body">
            <Notice tone="warn">{say.shownAsItWasThe}</Notice>
          </div>
        )}
        {body}
        {query.data && (
          <div className="ps-toolbar-foot">
            <span className="ps-muted" role="status">
              {query.hasNextPage ? say.eventsSoFar(rows.length) : say.events(rows.length)}
            </span>
            {query.hasNextPage && (
              <Button
                variant="default"
                ml="auto"
                loading={query.isFetchingNextPage}
                onClick={() => void query.fetchNextPage()}
              >
                {say.loadOlder}
              </Button>
            )}
          </div>
        )}
      </Card>
    </>
  );
}

interface NoRowsProps {
  /** There are no older rows that might be shown. */
  isLast: boolean;
  filtered: boolean;
  onClear: () => void;
}

function NoRows({ isLast, filtered, onClear }: NoRowsProps) {
  if (!isLast) {
    return <Empty title={say.nothingAmongTheNewestRows}>{say.noneOfThemIsAbout}</Empty>;
  }
  if (filtered) {
    return (
      <Empty
        title={say.nothingFound}
        action={
          <Button variant="default" onClick={onClear}>
            {say.clearAllFilters}
          </Button>
        }
      >
        {say.noEventFitsAllFilters}
      </Empty>
    );
  }
  return (
    <Empty icon={<IconClipboardList size={20} />} title={say.nothingRecordedYet}>
      {say.signInsEveryChangeAnd}
    </Empty>
  );
}

function Events({ rows }: { rows: AuditEvent[] }) {
  return (
    <div className="ps-table-wrap">
      <table className="ps-table" aria-label={say.auditEvents}>
        <thead>
          <tr>
            <th scope="col">{say.when}</th>
            <th scope="col">{say.who}</th>
            <th scope="col">{say.did}</th>
            <th scope="col" className="ps-hide-sm">
              {say.to}
            </th>
            <th scope="col" className="ps-hide-sm">
              {say.outcome}
            </th>
            <th scope="col">
              <span className="ps-sr">{say.details}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((event) => (
            <AuditRow key={event.id} event={event} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
