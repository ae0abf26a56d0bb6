import { Button, Checkbox } from "@mantine/core";
import { createColumnHelper } from "@tanstack/react-table";
import { type ReactNode, useState } from "react";
import { Breakable } from "@/components/breakable";
import { DataTable, type TableView } from "@/components/data-table";
import { SearchBox } from "@/components/search-box";
import { plural } from "@/lib/format";
import type { AclBinding } from "@/lib/types";

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
            header: () => <span className="ps-sr">Choose</span>,
            cell: ({ row }) => (
              <Checkbox
                size="xs"
                aria-label={`Choose ${row.original.principal} ${row.original.operation} ${row.original.resource_name}`}
                checked={chosen.has(row.id)}
                onChange={() => toggle(row.id)}
              />
            ),
          }),
        ]
      : []),
    column.accessor("principal", {
      header: "Principal",
      cell: (cell) => (
        <span className="ps-mono">
          <Breakable text={cell.getValue()} />
        </span>
      ),
    }),
    column.accessor("permission", {
      header: "Rule",
      cell: (cell) => (
        <span className={cell.getValue() === "DENY" ? "ps-bad" : "ps-ok"}>
          {cell.getValue() === "DENY" ? "may not" : "may"}
        </span>
      ),
    }),
    column.accessor("operation", {
      header: "Operation",
      cell: (cell) => cell.getValue().toLowerCase().replaceAll("_", " "),
    }),
    column.accessor((row) => `${row.resource_type} ${row.resource_name}`, {
      id: "resource",
      header: "On",
      cell: ({ row: { original: acl } }) => (
        <>
          <span className="ps-muted">{acl.resource_type.toLowerCase().replace("_", " ")}</span>{" "}
          <span
            className="ps-mono"
            title={acl.pattern_type === "PREFIXED" ? `Every name that starts with ${acl.resource_name}` : undefined}
          >
            <Breakable text={acl.resource_name} />
            {acl.pattern_type === "PREFIXED" && "*"}
          </span>
        </>
      ),
    }),
    column.accessor("host", {
      header: "From",
      meta: { hideBelow: "sm" },
      cell: (cell) => (cell.getValue() === "*" ? <span className="ps-muted">anywhere</span> : cell.getValue()),
    }),
  ];
  return (
    <>
      <div className="ps-toolbar">
        <SearchBox
          value={view.q ?? ""}
          label="Search ACLs"
          onChange={(q) => onView({ ...view, q: q || undefined, page: undefined })}
        />
        {picked.length > 0 && (
          <Button color="red" variant="light" ml="auto" onClick={() => onRemove(picked)}>
            Remove {plural(picked.length, "ACL")}
          </Button>
        )}
      </div>
      <DataTable
        rows={rows}
        columns={columns}
        rowId={idOf}
        label="ACLs"
        defaultSort="principal"
        view={view}
        onView={onView}
        empty={empty}
      />
    </>
  );
}
