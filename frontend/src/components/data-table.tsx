import { Group, Pagination } from "@mantine/core";
import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import {
  type ColumnDef,
  type ColumnDefTemplate,
  getCoreRowModel,
  getPaginationRowModel,
  getSortedRowModel,
  type RowData,
  type SortingState,
  useReactTable,
} from "@tanstack/react-table";
import { type ReactNode, useMemo, useState } from "react";
import { formatInteger } from "@/lib/format";

declare module "@tanstack/react-table" {
  // The type parameters are the library's; an augmentation has to repeat them.
  // eslint-disable-next-line @typescript-eslint/no-unused-vars -- see above
  interface ColumnMeta<TData extends RowData, TValue> {
    align?: "right";
    /** Hidden on screens narrower than this. */
    hideBelow?: "sm" | "md";
  }
}

export interface TableView {
  /** Column id, with a leading minus for descending. */
  sort?: string;
  /** From 1. */
  page?: number;
}

interface DataTableProps<T> {
  rows: T[];
  // TanStack's own type for a mixed list of columns.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- see above
  columns: ColumnDef<T, any>[];
  rowId: (row: T) => string;
  label: string;
  /** View state from the URL; without it the table keeps its own. */
  view?: TableView;
  onView?: (view: TableView) => void;
  defaultSort?: string;
  pageSize?: number;
  empty?: ReactNode;
}

/** What a column draws. It is called, not mounted as a component: one whose columns are made anew by its parent would
 * be another component each time, and its cells, with open menus and the focus in them, would be mounted again. */
function drawn<Context extends object>(template: ColumnDefTemplate<Context> | undefined, context: Context): ReactNode {
  return typeof template === "function" ? (template(context) as ReactNode) : template;
}

const parseSort = (sort: string | undefined): SortingState =>
  sort ? [{ id: sort.replace(/^-/, ""), desc: sort.startsWith("-") }] : [];

/** Sortable, paged table. Sorting and page live in the URL when the page says so. */
export function DataTable<T>({
  rows,
  columns,
  rowId,
  label,
  view,
  onView,
  defaultSort,
  pageSize = 50,
  empty,
}: DataTableProps<T>) {
  const [local, setLocal] = useState<TableView>({});
  const current = view ?? local;
  const change = onView ?? setLocal;
  const known = new Set(
    columns.map((column) => column.id ?? ("accessorKey" in column ? String(column.accessorKey) : "")),
  );
  const wanted = parseSort(current.sort ?? defaultSort).filter((item) => known.has(item.id));
  const pages = Math.max(1, Math.ceil(rows.length / pageSize));
  const pageIndex = Math.min(Math.max(1, current.page ?? 1), pages) - 1;
  // A row keeps the values that it was asked for: columns that read them otherwise, once a name is known,
  // need rows anew.
  // eslint-disable-next-line react-hooks/exhaustive-deps -- see above
  const data = useMemo(() => [...rows], [rows, columns]);
  const table = useReactTable({
    data,
    columns,
    getRowId: rowId,
    state: { sorting: wanted, pagination: { pageIndex, pageSize } },
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
    getPaginationRowModel: getPaginationRowModel(),
    enableSortingRemoval: false,
    autoResetPageIndex: false,
    onSortingChange: (update) => {
      const next = (typeof update === "function" ? update(wanted) : update)[0];
      change({ ...current, page: undefined, sort: next && `${next.desc ? "-" : ""}${next.id}` });
    },
  });
  if (rows.length === 0 && empty) return <>{empty}</>;
  const hidden = (below: string | undefined) => (below ? `ps-hide-${below}` : undefined);
  return (
    <>
      <div className="ps-table-wrap">
        <table className="ps-table" aria-label={label}>
          <thead>
            {table.getHeaderGroups().map((group) => (
              <tr key={group.id}>
                {group.headers.map((header) => {
                  const meta = header.column.columnDef.meta;
                  const sorted = header.column.getIsSorted();
                  const text = drawn(header.column.columnDef.header, header.getContext());
                  return (
                    <th
                      key={header.id}
                      scope="col"
                      data-align={meta?.align}
                      className={hidden(meta?.hideBelow)}
                      aria-sort={sorted === "asc" ? "ascending" : sorted === "desc" ? "descending" : undefined}
                    >
                      {header.column.getCanSort() ? (
                        <button type="button" className="ps-sort" onClick={header.column.getToggleSortingHandler()}>
                          {text}
                          {sorted === "asc" && <IconArrowUp size={12} aria-hidden />}
                          {sorted === "desc" && <IconArrowDown size={12} aria-hidden />}
                        </button>
                      ) : (
                        text
                      )}
                    </th>
                  );
                })}
              </tr>
            ))}
          </thead>
          <tbody>
            {table.getRowModel().rows.map((row) => (
              <tr key={row.id}>
                {row.getVisibleCells().map((cell) => {
                  const meta = cell.column.columnDef.meta;
                  return (
                    <td
                      key={cell.id}
                      data-column={cell.column.id}
                      data-align={meta?.align}
                      className={hidden(meta?.hideBelow)}
                    >
                      {drawn(cell.column.columnDef.cell, cell.getContext())}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {pages > 1 && (
        <Group justify="space-between" px={14} py={8} style={{ borderTop: "1px solid var(--ps-line)" }}>
          <span className="ps-muted ps-tnum" style={{ fontSize: "0.75rem" }}>
            {formatInteger(pageIndex * pageSize + 1)}–{formatInteger(Math.min(rows.length, (pageIndex + 1) * pageSize))}{" "}
            of {formatInteger(rows.length)}
          </span>
          <Pagination
            size="xs"
            total={pages}
            value={pageIndex + 1}
            onChange={(page) => change({ ...current, page: page === 1 ? undefined : page })}
            getControlProps={(control) => ({ "aria-label": `${control} page` })}
          />
        </Group>
      )}
    </>
  );
}
