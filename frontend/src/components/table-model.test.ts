import { createColumnHelper } from "@tanstack/react-table";
import { describe, expect, it } from "vitest";
import { canSort, type Columns, readColumns, sorted, startsDown } from "./table-model";

interface Row {
  name: string;
  lag: number | null;
}
const helper = createColumnHelper<Row>();
const columns = readColumns([
  helper.accessor("name", { header: "Name" }),
  helper.accessor((row) => row.lag, { id: "lag", header: "Lag" }),
  helper.accessor("lag", {
    id: "by-rule",
    header: "Rule",
    sortDescFirst: false,
    sortingFn: (left, right) => (right.original.lag ?? 0) - (left.original.lag ?? 0),
  }),
  helper.accessor("lag", { id: "fixed", header: "Fixed", enableSorting: false }),
  helper.display({ id: "menu", header: "" }),
] as Columns<Row>);
const rows: Row[] = [
  { name: "topic-10", lag: 5 },
  { name: "Topic-9", lag: null },
  { name: "alpha", lag: 70 },
];
const names = (id: string, desc = false) => sorted(rows, columns, { id, desc }).map((row) => row.name);

describe("the model of a table", () => {
  it("knows columns by their id or what they read", () => {
    expect(columns.map(({ id }) => id)).toEqual(["name", "lag", "by-rule", "fixed", "menu"]);
  });

  it("sorts words as people count, whatever their case", () => {
    expect(names("name")).toEqual(["alpha", "Topic-9", "topic-10"]);
    expect(names("name", true)).toEqual(["topic-10", "Topic-9", "alpha"]);
  });

  it("takes what is not known for the least", () => {
    expect(names("lag")).toEqual(["Topic-9", "topic-10", "alpha"]);
    expect(names("lag", true)).toEqual(["alpha", "topic-10", "Topic-9"]);
  });

  it("takes a column's own comparison", () => {
    expect(names("by-rule")).toEqual(["alpha", "topic-10", "Topic-9"]);
  });

  it("leaves rows as they came without an order, or by a column that has none", () => {
    const came = rows.map((row) => row.name);
    expect(sorted(rows, columns, undefined).map((row) => row.name)).toEqual(came);
    expect([names("fixed"), names("menu"), names("nonsense")]).toEqual([came, came, came]);
    expect(columns.map(canSort)).toEqual([true, true, true, false, false]);
  });

  it("keeps alike rows as they came, in both directions", () => {
    const alike = [
      { name: "b", lag: 1 },
      { name: "a", lag: 1 },
    ];
    const of = (desc: boolean) => sorted(alike, columns, { id: "lag", desc }).map((row) => row.name);
    expect([of(false), of(true)]).toEqual([
      ["b", "a"],
      ["b", "a"],
    ]);
  });

  it("sorts amounts downwards first, names upwards, and as a column says", () => {
    const first = (id: string) =>
      startsDown(columns.filter((column) => column.id === id)[0] as (typeof columns)[number], rows);
    expect([first("name"), first("lag"), first("by-rule")]).toEqual([false, true, false]);
  });

  it("sorts ten thousand rows without touching what it was given", () => {
    const many = Array.from({ length: 10_000 }, (_, index) => ({ name: `t${index}`, lag: (index * 7_919) % 10_000 }));
    const before = [...many];
    const out = sorted(many, columns, { id: "lag", desc: true });
    expect(out.map((row) => row.lag)).toEqual(Array.from({ length: 10_000 }, (_, index) => 9_999 - index));
    expect(many).toEqual(before);
  });
});
