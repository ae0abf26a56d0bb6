import { IconCircleCheck } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import { Breakable } from "@/components/breakable";
import { DataTable, type TableView } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { Mend } from "@/components/mend";
import { Notice } from "@/components/notice";
import { RelTime } from "@/components/rel-time";
import { SearchBox } from "@/components/search-box";
import { ChangedBy, ChangedWhen } from "@/components/sighting";
import { adoptProblem, backProblem, differenceText } from "@/lib/differences";
import type { AccessDriftPage, PlanRequest } from "@/lib/types";
import { words } from "@/words/access";

const say = words.driftView;

type Row = AccessDriftPage["data"][number];
type Age = AccessDriftPage["users"];

/** What the server orders them by. */
export const DRIFT_SORTS = ["name", "observed", "desired", "seen"] as const;

const column = createColumnHelper<Row>();

interface DriftViewProps {
  clusterId: string;
  drift: AccessDriftPage;
  /** Left out for readers, who are offered nothing. */
  onPlan?: (request: PlanRequest) => void;
  view: TableView & { q?: string };
  onView: (view: TableView & { q?: string }) => void;
}

/** What was changed outside of Penstock; what was not read is said to be unknown, never unchanged. */
export function DriftView({ clusterId, drift, onPlan, view, onView }: DriftViewProps) {
  const ages: [string, Age][] = [
    [say.users, drift.users],
    [say.acls, drift.acls],
  ];
  const isKnown = ages.every(([, age]) => age.as_of !== null);
  const isAnyKnown = ages.some(([, age]) => age.as_of !== null);
  const columns = [
    column.accessor((row) => `${row.area} ${row.name}`, {
      id: "name",
      header: say.changed,
      cell: ({ row: { original } }) => (
        <>
          <span className="ps-muted">{original.area === "user" ? say.user : say.acl}</span>{" "}
          <span className="ps-mono">
            <Breakable text={original.name} />
          </span>
        </>
      ),
    }),
    column.accessor("observed", {
      header: say.isNow,
      cell: (cell) => <span className="ps-warn">{cell.getValue()}</span>,
    }),
    column.accessor("desired", {
      header: say.wasLeftAs,
      cell: ({ row: { original } }) => (
        <>
          {original.desired}{" "}
          <Link
            to="/operations/$operationId"
            params={{ operationId: original.operation_id }}
            className="ps-link"
            aria-label={say.operationThatLeft(original.name)}
            title={differenceText(original)}
          >
            {say.byThisOperation}
          </Link>
        </>
      ),
    }),
    column.accessor("seen_at", {
      id: "seen",
      header: say.when,
      cell: ({ row: { original } }) => <ChangedWhen row={original} />,
    }),
    column.display({
      id: "who",
      header: say.who,
      cell: ({ row: { original } }) => <ChangedBy row={original} name={original.name} />,
    }),
    column.display({
      id: "mend",
      header: say.mend,
      cell: ({ row: { original } }) => (
        <>
          {onPlan && (
            <Mend
              clusterId={clusterId}
              name={original.name}
              back={original.back}
              backProblem={backProblem(original)}
              adopt={original.adopt}
              adoptProblem={adoptProblem(original)}
              onPlan={onPlan}
            />
          )}
        </>
      ),
    }),
  ];
  return (
    <>
      {ages.map(([what, age]) => (
        <AgeNotice key={what} what={what} age={age} />
      ))}
      {drift.under_way.length > 0 && (
        <div className="ps-card-body" style={{ paddingBottom: 12 }}>
          <Notice tone="info" title={say.underWay(drift.under_way.length)} />
        </div>
      )}
      {drift.total > 0 && (
        <div className="ps-card-body" style={{ paddingBottom: 12 }}>
          <Link to="/clusters/$clusterId/drift" params={{ clusterId }} className="ps-link">
            {say.allOfTheCluster}
          </Link>
        </div>
      )}
      {drift.total > 0 && (
        <div className="ps-toolbar">
          <SearchBox
            value={view.q ?? ""}
            label={say.searchChanges}
            onChange={(q) => onView({ ...view, q: q || undefined, page: undefined })}
          />
        </div>
      )}
      {(isAnyKnown || drift.total > 0) && (
        <DataTable
          rows={drift.data}
          paged={drift}
          columns={columns}
          rowId={(row) => `${row.area} ${row.name}`}
          label={say.changedOutside}
          defaultSort="name"
          view={view}
          onView={onView}
          empty={
            drift.total > 0 ? (
              <Empty title={say.noChangeMatches}>{say.searchForLess}</Empty>
            ) : (
              <Empty
                icon={<IconCircleCheck size={20} />}
                title={isKnown ? say.nothingWasChanged : say.nothingIsKnownToBeChanged}
              >
                {say.asLeft(isKnown ? say.usersAndAcls : drift.users.as_of ? say.users : say.acls)}
              </Empty>
            )
          }
        />
      )}
    </>
  );
}

function AgeNotice({ what, age }: { what: string; age: Age }) {
  if (age.as_of !== null && age.stale_reason === null) return null;
  return (
    <div className="ps-card-body" style={{ paddingBottom: 12 }}>
      {age.as_of === null ? (
        <Notice tone="warn" title={say.unknownWhetherChanged(what)}>
          {age.stale_reason ? say.neverReadBecause(age.stale_reason) : say.neverReadYet}
        </Notice>
      ) : (
        <Notice tone="warn">{say.comparedAsTheyWere(what, <RelTime at={age.as_of} />, age.stale_reason)}</Notice>
      )}
    </div>
  );
}
