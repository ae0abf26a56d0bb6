/** What a table shows of its rows: its columns, an order, a page.
 *
 * Columns are declared in TanStack Table's words (`createColumnHelper`, `ColumnDef`). Of what that library does we
 * need this little, and all of it would be a tenth of what the first view may load. */
import type { ColumnDef, RowData } from "@tanstack/react-table";
import type { ReactNode } from "react";

/** TanStack's own type for a mixed list of columns. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- see above
export type Columns<T> = ColumnDef<T, any>[];

export interface Column<T extends RowData> {
  id: string;
  definition: Columns<T>[number];
  /** A row's value; undefined for a column that only shows something. */
  read: ((row: T, index: number) => unknown) | undefined;
}

export interface Order {
  id: string;
  desc: boolean;
}

interface Row<T> {
  id: string;
  original: T;
  index: number;
}

/** The columns that have a name to be known by: their id, or what they read. */
export function readColumns<T extends RowData>(columns: Columns<T>): Column<T>[] {
  return columns.map((definition) => {
    const key = "accessorKey" in definition ? String(definition.accessorKey) : undefined;
    const id = definition.id ?? key ?? (typeof definition.header === "string" ? definition.header : "");
    if ("accessorFn" in definition) return { id, definition, read: definition.accessorFn };
    return { id, definition, read: key === undefined ? undefined : (row: T) => (row as Record<string, unknown>)[key] };
  });
}

export const canSort = <T extends RowData>({ read, definition }: Column<T>): boolean =>
  read !== undefined && definition.enableSorting !== false;

/** Whether the first click sorts downwards: amounts do, names do not. */
export function startsDown<T extends RowData>(column: Column<T>, rows: readonly T[]): boolean {
  if (column.definition.sortDescFirst !== undefined) return column.definition.sortDescFirst;
  return rows.length > 0 && typeof column.read?.(rows[0] as T, 0) !== "string";
}

const words = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

const isNothing = (value: unknown): boolean =>
  value === null || value === undefined || (typeof value === "number" && Number.isNaN(value));

function compare(left: unknown, right: unknown): number {
  if (typeof left === "string" && typeof right === "string") return words.compare(left, right);
  const [one, other] = [left as number, right as number];
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The rows in the wanted order; alike ones stay as they came. What is not known is the least. */
export function sorted<T extends RowData>(rows: readonly T[], columns: Column<T>[], order: Order | undefined): T[] {
  const column = order && columns.find(({ id }) => id === order.id);
  if (!order || !column || !canSort(column)) return [...rows];
  const keyed = rows.map((row, index) => ({ row, index, value: column.read?.(row, index) }));
  const own = column.definition.sortingFn;
  const rate = (left: (typeof keyed)[number], right: (typeof keyed)[number]): number => {
    // Its comparison asks rows of TanStack's for their original and values, which these are enough of.
    if (typeof own === "function") return own(asRow(left) as never, asRow(right) as never, column.id);
    if (isNothing(left.value) || isNothing(right.value))
      return Number(isNothing(right.value)) - Number(isNothing(left.value));
    return compare(left.value, right.value);
  };
  const asRow = ({ row, value }: (typeof keyed)[number]) => ({ original: row, getValue: () => value });
  return keyed
    .sort((left, right) => (order.desc ? -1 : 1) * rate(left, right) || left.index - right.index)
    .map(({ row }) => row);
}

/** What a column draws for a row. It is called, not mounted as a component: one whose columns are made anew by its
 * parent would be another component each time, and its cells, with open menus and the focus in them, would be mounted
 * again. */
export function drawCell<T extends RowData>(column: Column<T>, row: Row<T>): ReactNode {
  const { cell } = column.definition;
  const getValue = () => column.read?.(row.original, row.index);
  if (typeof cell !== "function") return cell ?? (getValue() as ReactNode);
  return cell({ row, getValue, renderValue: getValue, column: { id: column.id } } as never) as ReactNode;
}

export function drawHeader<T extends RowData>({ id, definition }: Column<T>): ReactNode {
  const { header } = definition;
  return typeof header === "function" ? (header({ column: { id } } as never) as ReactNode) : header;
}
