import { Button, Checkbox } from "@mantine/core";
import { createColumnHelper } from "@tanstack/react-table";
import { type ReactNode, useState } from "react";
import { Breakable } from "@/components/breakable";
import { DataTable, type TableView } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { SearchBox } from "@/components/search-box";
import { operationWords, typeWords } from "@/lib/acl-words";
import type { AclBinding, ListCounts } from "@/lib/types";
import { words } from "@/words/access";

const say = words.aclTable;

const idOf = (acl: AclBinding) =>
  JSON.stringify([
    acl.principal,
    acl.host,
    acl.permission,
    acl.operation,
    acl.resource_type,
    acl.pattern_type,
    acl.resource_name,
  ]);
const column = createColumnHelper<AclBinding>();

/** The server's orders, which are the columns. */
export const ACL_SORTS = ["principal", "permission", "operation", "resource", "host"] as const;

interface AclTableProps {
  acls: AclBinding[];
  counts: ListCounts | null | undefined;
  canWrite: boolean;
  view: TableView & { q?: string };
  onView: (view: TableView & { q?: string }) => void;
  onRemove: (bindings: AclBinding[]) => void;
  empty: ReactNode;
}

export function AclTable({ acls, counts, canWrite, view, onView, onRemove, empty }: AclTableProps) {
  // What was chosen on another page, or before another search, stays chosen.
  const [chosen, setChosen] = useState<ReadonlyMap<string, AclBinding>>(new Map());
  const toggle = (acl: AclBinding) => {
    const next = new Map(chosen);
    if (!next.delete(idOf(acl))) next.set(idOf(acl), acl);
    setChosen(next);
  };
  const columns = [
    ...(canWrite
      ? [
          column.display({
            id: "pick",
            header: () => <span className="ps-sr">{say.choose}</span>,
            cell: ({ row }) => (
              <Checkbox
                size="xs"
                aria-label={say.chooseAcl(
                  row.original.principal,
                  operationWords(row.original.operation),
                  row.original.resource_name,
                )}
                checked={chosen.has(row.id)}
                onChange={() => toggle(row.original)}
              />
            ),
          }),
        ]
      : []),
    column.accessor("principal", {
      header: say.principal,
      cell: (cell) => (
        <span className="ps-mono">
          <Breakable text={cell.getValue()} />
        </span>
      ),
    }),
    column.accessor("permission", {
      header: say.rule,
      cell: (cell) => (
        <span className={cell.getValue() === "DENY" ? "ps-bad" : "ps-ok"}>
          {cell.getValue() === "DENY" ? say.mayNot : say.may}
        </span>
      ),
    }),
    column.accessor("operation", {
      header: say.operation,
      cell: (cell) => operationWords(cell.getValue()),
    }),
    column.accessor((row) => `${row.resource_type} ${row.resource_name}`, {
      id: "resource",
      header: say.on,
      cell: ({ row: { original: acl } }) => (
        <>
          <span className="ps-muted">{typeWords(acl.resource_type)}</span>{" "}
          <span
            className="ps-mono"
            title={acl.pattern_type === "PREFIXED" ? say.everyNameThatStartsWith(acl.resource_name) : undefined}
          >
            <Breakable text={acl.resource_name} />
            {acl.pattern_type === "PREFIXED" && "*"}
          </span>
        </>
      ),
    }),
    column.accessor("host", {
      header: say.from,
      meta: { hideBelow: "sm" },
      cell: (cell) => (cell.getValue() === "*" ? <span className="ps-muted">{say.anywhere}</span> : cell.getValue()),
    }),
  ];
  return (
    <>
      <div className="ps-toolbar">
        <SearchBox
          value={view.q ?? ""}
          label={say.searchAcls}
          onChange={(q) => onView({ ...view, q: q || undefined, page: undefined })}
        />
        {chosen.size > 0 && (
          <Button color="red" variant="light" ml="auto" onClick={() => onRemove([...chosen.values()])}>
            {say.removeAcls(chosen.size)}
          </Button>
        )}
      </div>
      <DataTable
        rows={acls}
        paged={counts ?? undefined}
        columns={columns}
        rowId={idOf}
        label={say.acls}
        defaultSort="principal"
        view={view}
        onView={onView}
        empty={view.q ? <Empty title={say.noAclMatches}>{say.searchForLess}</Empty> : empty}
      />
    </>
  );
}
