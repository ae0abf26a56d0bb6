import { IconCircleCheck } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import { Breakable } from "@/components/breakable";
import { DataTable, type TableView } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { Mend } from "@/components/mend";
import { Notice } from "@/components/notice";
import { ChangedBy, ChangedWhen } from "@/components/sighting";
import { adoptProblem, backProblem, differenceText } from "@/lib/differences";
import { needOf, useMayWrite } from "@/lib/permissions";
import type { ClusterDrift, PlanRequest } from "@/lib/types";
import { words } from "@/words/drift";

const say = words.table;

type Row = ClusterDrift["data"][number];

const column = createColumnHelper<Row>();
const nameOf = (row: Row) => (row.field ? say.fieldOf(row.field, row.name) : row.name);

interface DifferenceTableProps {
  clusterId: string;
  drift: ClusterDrift;
  onPlan: (request: PlanRequest) => void;
  view: TableView;
  onView: (view: TableView) => void;
}

export function DifferenceTable({ clusterId, drift, onPlan, view, onView }: DifferenceTableProps) {
  const mayWrite = useMayWrite();
  const isKnown = drift.areas.every(({ as_of }) => as_of !== null);
  const mayMend = (row: Row, kind: string) => {
    const { over, name } = needOf({ kind: kind as PlanRequest["kind"], resource: `topic/${row.name}` });
    return mayWrite(over, clusterId, name);
  };
  const columns = [
    column.accessor((row) => `${row.area} ${row.name} ${row.field}`, {
      id: "name",
      header: say.changed,
      cell: ({ row: { original } }) => (
        <>
          <span className="ps-muted">{words.areas[original.area]}</span>{" "}
          <span className="ps-mono" title={differenceText(original)}>
            <Breakable text={original.name} />
          </span>
          {original.field && <span className="ps-muted"> {original.field}</span>}
        </>
      ),
    }),
    column.accessor((row) => row.observed ?? "", {
      id: "observed",
      header: say.isNow,
      cell: ({ row: { original } }) => (
        <span className="ps-warn">
          <Breakable text={original.observed ?? say.notSet} />
        </span>
      ),
    }),
    column.accessor((row) => row.desired ?? "", {
      id: "desired",
      header: say.wasLeftAs,
      cell: ({ row: { original } }) => (
        <>
          <Breakable text={original.desired ?? say.notSet} />{" "}
          {/* Null of anything but racks: an operation that the reader may not see. */}
          {original.operation_id !== null ? (
            <OperationLink id={original.operation_id} label={say.operationThatLeft(nameOf(original))}>
              {say.byThisOperation}
            </OperationLink>
          ) : original.field === "racks" ? (
            <span className="ps-muted">{say.isARule}</span>
          ) : null}
        </>
      ),
    }),
    column.accessor("seen_at", {
      header: say.when,
      cell: ({ row: { original } }) => <ChangedWhen row={original} />,
    }),
    column.accessor((row) => row.who.text, {
      id: "who",
      header: say.who,
      cell: ({ row: { original } }) => <ChangedBy row={original} name={nameOf(original)} />,
    }),
    column.display({
      id: "mend",
      header: say.mend,
      cell: ({ row: { original } }) => {
        const { back, adopt } = original;
        return (
          <Mend
            clusterId={clusterId}
            name={nameOf(original)}
            back={back && mayMend(original, back.kind) ? back : null}
            backProblem={backProblem(original)}
            adopt={adopt && mayMend(original, adopt.kind) ? adopt : null}
            adoptProblem={adoptProblem(original)}
            onPlan={onPlan}
          />
        );
      },
    }),
  ];
  return (
    <>
      {drift.under_way.length > 0 && (
        <div className="ps-card-body" style={{ paddingBottom: 12 }}>
          <Notice tone="info" title={say.underWay(drift.under_way.length)} />
        </div>
      )}
      <DataTable
        rows={drift.data}
        columns={columns}
        rowId={(row) => `${row.area} ${row.name} ${row.field}`}
        label={say.label}
        defaultSort="name"
        view={view}
        onView={onView}
        empty={
          <Empty icon={<IconCircleCheck size={20} />} title={isKnown ? say.nothing : say.nothingKnown}>
            {isKnown ? say.allAsLeft : null}
          </Empty>
        }
      />
      {drift.left_out > 0 && (
        <div className="ps-card-body">
          <Notice tone="warn" title={say.leftOut(drift.left_out)} />
        </div>
      )}
    </>
  );
}

function OperationLink({ id, label, children }: { id: string; label: string; children: string }) {
  return (
    <Link to="/operations/$operationId" params={{ operationId: id }} className="ps-link" aria-label={label}>
      {children}
    </Link>
  );
}
