import { IconBook2 } from "@tabler/icons-react";
import { getRouteApi, Link } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import { Card } from "@/components/card";
import { DataTable } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { ListView } from "@/components/list-view";
import { PageHeader } from "@/components/page-header";
import { SearchBox } from "@/components/search-box";
import { useRunbooks, useRuns } from "@/lib/runbooks";
import type { RunbookRow } from "@/lib/types";
import { alertTitles, runbookTitle } from "@/lib/rule-names";
import { words } from "@/words/runbooks";
import { RunTable } from "./run-table";
import { Verified } from "./verified";

const say = words.runbooksPage;

const route = getRouteApi("/app/runbooks");
const column = createColumnHelper<RunbookRow>();

const HELP = [say.textOnly, say.checksThatRun, say.checksThatRunActsThat, say.runsByItself];

const columns = [
  column.accessor((row) => runbookTitle(row.id), {
    id: "title",
    header: say.runbook,
    cell: ({ row: { original: row } }) => (
      <div className="ps-wide-cell" style={{ padding: "3px 0" }}>
        <Link to="/runbooks/$runbookId" params={{ runbookId: row.id }} className="ps-link">
          {runbookTitle(row.id)}
        </Link>
        <div className="ps-muted" style={{ fontSize: "0.75rem" }}>
          {HELP[row.automation]}
        </div>
      </div>
    ),
  }),
  column.accessor((row) => alertTitles(row.alerts), {
    id: "alerts",
    header: say.alertsThatLeadHere,
    enableSorting: false,
    meta: { hideBelow: "sm" },
    cell: ({ row, getValue }) => (
      <span className="ps-muted" title={row.original.alerts.join(", ")}>
        {getValue() || "–"}
      </span>
    ),
  }),
  column.accessor("est_minutes", {
    header: say.takesAbout,
    meta: { align: "right" },
    cell: ({ getValue }) => say.min(getValue()),
  }),
  column.accessor("owner", { header: say.owner, meta: { hideBelow: "md" } }),
  column.accessor((row) => row.last_verified ?? "", {
    id: "verified",
    header: say.verified,
    meta: { hideBelow: "sm" },
    cell: ({ row }) => <Verified runbook={row.original} />,
  }),
];

const matches = (row: RunbookRow, needle: string): boolean =>
  `${row.id} ${row.title} ${runbookTitle(row.id)} ${row.alerts.join(" ")} ${alertTitles(row.alerts)} ${row.owner}`
    .toLowerCase()
    .includes(needle);

/** Every runbook, and who followed one lately. */
export function RunbooksPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useRunbooks();
  const runs = useRuns({});
  const needle = search.q?.toLowerCase() ?? "";
  return (
    <>
      <PageHeader title={say.runbooks} sub={say.whatToDoWhenChecks} />
      <div className="ps-stack">
        <Card>
          <div className="ps-toolbar">
            <SearchBox
              value={search.q ?? ""}
              label={say.searchRunbooks}
              onChange={(q) => void navigate({ search: (old) => ({ ...old, q: q || undefined }), replace: true })}
            />
          </div>
          <ListView query={query}>
            {(rows) => (
              <DataTable
                rows={rows.filter((row) => matches(row, needle))}
                columns={columns}
                rowId={(row) => row.id}
                label={say.runbooks}
                defaultSort="title"
                view={search}
                onView={(view) => void navigate({ search: (old) => ({ ...old, ...view }), replace: true })}
                empty={
                  <Empty icon={<IconBook2 size={20} />} title={say.noRunbookMatches}>
                    {say.changeTheSearchAbove}
                  </Empty>
                }
              />
            )}
          </ListView>
        </Card>
        <Card title={say.latestRuns}>
          <ListView query={runs}>{(rows) => <RunTable runs={rows} />}</ListView>
        </Card>
      </div>
    </>
  );
}
