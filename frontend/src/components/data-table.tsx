import { Group } from "@mantine/core";
import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import type { RowData } from "@tanstack/react-table";
import { lazy, type ReactNode, Suspense, useMemo, useState } from "react";
import { words } from "@/words/parts";
import {
  canSort,
  type Column,
  type Columns,
  drawCell,
  drawHeader,
  type Order,
  readColumns,
  sorted,
  startsDown,
} from "./table-model";

const say = words.dataTable;

// Most tables have one page.
const Pager = lazy(() => import("./pager"));

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
  columns: Columns<T>;
  rowId: (row: T) => string;
  label: string;
  /** View state from the URL; without it the table keeps its own. */
  view?: TableView;
  onView?: (view: TableView) => void;
  defaultSort?: string;
  pageSize?: number;
  /** The server sorts and pages: `rows` are this page of `matched` rows. */
  paged?: { page: number; size: number; matched: number };
  empty?: ReactNode;
}

function parseOrder(sort: string | undefined): Order | undefined {
  return sort ? { id: sort.replace(/^-/, ""), desc: sort.startsWith("-") } : undefined;
}

/** Sortable, paged table. Sorting and page live in the URL when the page says so, or are the server's. */
export function DataTable<T>({
  rows,
  columns,
  rowId,
  label,
  view,
  onView,
  defaultSort,
  pageSize: ownSize = 50,
  paged,
  empty,
}: DataTableProps<T>) {
  const [local, setLocal] = useState<TableView>({});
  const current = view ?? local;
  const change = onView ?? setLocal;
  const known = readColumns(columns);
  const wanted = parseOrder(current.sort ?? defaultSort);
  const order = wanted && known.some(({ id }) => id === wanted.id) ? wanted : undefined;
  const pageSize = paged?.size ?? ownSize;
  const matched = paged?.matched ?? rows.length;
  const pages = Math.max(1, Math.ceil(matched / pageSize));
  const pageIndex = Math.min(Math.max(1, paged?.page ?? current.page ?? 1), pages) - 1;
  // The server's rows come in their order, and are this page of it.
  const wantedHere = paged ? undefined : order;
  const all = useMemo(
    () => sorted(rows, known, wantedHere),
    // eslint-disable-next-line react-hooks/exhaustive-deps -- an order is its two values; columns are what they read
    [rows, columns, wantedHere?.id, wantedHere?.desc],
  );
  const shown = paged ? all : all.slice(pageIndex * pageSize, (pageIndex + 1) * pageSize);
  const sortBy = (column: Column<T>) => {
    const desc = order?.id === column.id ? !order.desc : startsDown(column, rows);
    change({ ...current, page: undefined, sort: `${desc ? "-" : ""}${column.id}` });
  };
  if (rows.length === 0 && empty) return <>{empty}</>;
  const hidden = (below: string | undefined) => (below ? `ps-hide-${below}` : undefined);
  return (
    <>
      <div className="ps-table-wrap">
        <table className="ps-table" aria-label={label}>
          <thead>
            <tr>
              {known.map((column) => {
                const { meta } = column.definition;
                const direction = order?.id === column.id ? (order.desc ? "descending" : "ascending") : undefined;
                const text = drawHeader(column);
                return (
                  <th
                    key={column.id}
                    scope="col"
                    data-align={meta?.align}
                    className={hidden(meta?.hideBelow)}
                    aria-sort={direction}
                  >
                    {canSort(column) ? (
                      <button type="button" className="ps-sort" onClick={() => sortBy(column)}>
                        {text}
                        {direction === "ascending" && <IconArrowUp size={12} aria-hidden />}
                        {direction === "descending" && <IconArrowDown size={12} aria-hidden />}
                      </button>
                    ) : (
                      text
                    )}
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, index) => (
              <tr key={rowId(row)}>
                {known.map((column) => {
                  const { meta } = column.definition;
                  return (
                    <td
                      key={column.id}
                      data-column={column.id}
                      data-align={meta?.align}
                      className={hidden(meta?.hideBelow)}
                    >
                      {drawCell(column, { id: rowId(row), original: row, index: pageIndex * pageSize + index })}
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
            {say.ofWord(pageIndex * pageSize + 1, Math.min(matched, (pageIndex + 1) * pageSize), matched)}
          </span>
          <Suspense>
            <Pager
              pages={pages}
              page={pageIndex + 1}
              onPage={(page) => change({ ...current, page: page === 1 ? undefined : page })}
            />
          </Suspense>
        </Group>
      )}
    </>
  );
}
