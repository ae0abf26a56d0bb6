import { Progress } from "@mantine/core";
import { IconListDetails } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import { toDate } from "@/lib/format";
import { kindLabel } from "@/lib/kinds";
import { percentDone, TERMINAL } from "@/lib/operations";
import type { Operation } from "@/lib/types";
import { words } from "@/words/operation-list";
import { DataTable } from "./data-table";
import { Empty } from "./empty";
import { Quantity } from "./quantity";
import { RelTime } from "./rel-time";
import { OperationStatus } from "./status";

const say = words;

const column = createColumnHelper<Operation>();
const base = [
  column.accessor((row) => kindLabel(row.kind), {
    id: "kind",
    header: say.operation,
    cell: ({ row, getValue }) => (
      <>
        <Link to="/operations/$operationId" params={{ operationId: row.original.id }} className="ps-link">
          {getValue()}
        </Link>
        <div className="ps-mono ps-muted ps-only-sm">{resourceName(row.original.resource)}</div>
      </>
    ),
  }),
  column.accessor("resource", {
    header: say.on,
    meta: { hideBelow: "sm" },
    cell: (cell) => <span className="ps-mono">{resourceName(cell.getValue())}</span>,
  }),
  column.accessor("state", {
    header: say.state,
    cell: ({ row }) => <State operation={row.original} />,
  }),
];
const full = [
  ...base,
  column.accessor("actor", { header: say.by, meta: { hideBelow: "md" }, cell: (cell) => actorName(cell.getValue()) }),
  column.accessor((row) => took(row), {
    id: "took",
    header: say.took,
    meta: { align: "right", hideBelow: "sm" },
    cell: (cell) => <Quantity of="span" value={cell.getValue()} />,
  }),
];
const started = column.accessor("created_at", {
  header: say.started,
  meta: { align: "right" },
  cell: (cell) => <RelTime at={cell.getValue()} />,
});

function took(operation: Operation): number | null {
  const end = toDate(operation.finished_at);
  const start = toDate(operation.created_at);
  return end && start ? (end.getTime() - start.getTime()) / 1000 : null;
}

/** "topic/demo.orders" → "demo.orders"; the kind beside it says what it is. */
export const resourceName = (resource: string): string => resource.replace(/^[a-z-]+\//, "");
/** "key:ci" → "API key ci"; people by their name. */
export const actorName = (actor: string): string =>
  actor.startsWith("key:") ? say.apiKey(actor.slice("key:".length)) : actor.replace(/^user:/, "");

function State({ operation }: { operation: Operation }) {
  return (
    <span style={{ display: "inline-flex", gap: 10, alignItems: "center" }}>
      <OperationStatus state={operation.state} />
      {!TERMINAL.has(operation.state) && (
        <Progress value={percentDone(operation)} w={64} size="sm" aria-label={say.progress} />
      )}
    </span>
  );
}

interface OperationListProps {
  operations: Operation[];
  compact?: boolean;
  /** A page of a longer list, the newest first: an order of what is on it would be none of the list. */
  ofMany?: boolean;
  empty?: React.ReactNode;
}

const short = [...base, started];
const long = [...full, started];
const unsorted = long.map((each) => ({ ...each, enableSorting: false }));

export function OperationList({ operations, compact = false, ofMany = false, empty }: OperationListProps) {
  return (
    <DataTable
      rows={operations}
      columns={compact ? short : ofMany ? unsorted : long}
      rowId={(row) => row.id}
      label={say.operations}
      defaultSort={ofMany ? undefined : "-created_at"}
      empty={
        empty ?? (
          <Empty icon={<IconListDetails size={20} />} title={say.noOperationsYet}>
            {say.everyChangeRunsAsAn}
          </Empty>
        )
      }
    />
  );
}
