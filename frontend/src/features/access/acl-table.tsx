import { Button, Checkbox } from "@mantine/core";
import { createColumnHelper } from "@tanstack/react-table";
import { type ReactNode, useState } from "react";
import { Breakable } from "@/components/breakable";
import { DataTable, type TableView } from "@/components/data-table";
import { SearchBox } from "@/components/search-box";
import type { AclBinding } from "@/lib/types";
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

interface AclTableProps {
  acls: AclBinding[];
  canWrite: boolean;
  view: TableView & { q?: string };
  onView: (view: TableView & { q?: string }) => void;
  onRemove: (bindings: AclBinding[]) => void;
  empty: ReactNode;
}

export function AclTable({ acls, canWrite, view, onView, onRemove, empty }: AclTableProps) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const needle = view.q?.toLowerCase() ?? "";
  const rows = acls.filter((acl) => Object.values(acl).join(" ").toLowerCase().includes(needle));
  const picked = acls.filter((acl) => chosen.has(idOf(acl)));
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
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
                aria-label={say.chooseAcl(row.original.principal, row.original.operation, row.original.resource_name)}
                checked={chosen.has(row.id)}
                onChange={() => toggle(row.id)}
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
      cell: (cell) => cell.getValue().toLowerCase().replaceAll("_", " "),
    }),
    column.accessor((row) => `${row.resource_type} ${row.resource_name}`, {
      id: "resource",
      header: say.on,
      cell: ({ row: { original: acl } }) => (
        <>
          <span className="ps-muted">{acl.resource_type.toLowerCase().replace("_", " ")}</span>{" "}
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
        {picked.length > 0 && (
          <Button color="red" variant="light" ml="auto" onClick={() => onRemove(picked)}>
            {say.removeAcls(picked.length)}
          </Button>
        )}
      </div>
      <DataTable
        rows={rows}
        columns={columns}
        rowId={idOf}
        label={say.acls}
        defaultSort="principal"
        view={view}
        onView={onView}
        empty={empty}
      />
    </>
  );
}
