import { MantineProvider } from "@mantine/core";
import { fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { describe, expect, it, vi } from "vitest";
import { press, rowsOf } from "@/testing/app";
import { DataTable, type TableView } from "./data-table";

interface Row {
  name: string;
  size: number;
}
const columns = [
  { accessorKey: "name", header: "Name" },
  { accessorKey: "size", header: "Size" },
];
const rows: Row[] = [
  { name: "b", size: 10 },
  { name: "a", size: 9 },
  { name: "c", size: 2 },
];

interface Over {
  view?: TableView;
  onView?: (view: TableView) => void;
  rows?: Row[];
  pageSize?: number;
  paged?: { page: number; size: number; matched: number };
}
function show(over: Over = {}) {
  render(
    <MantineProvider env="test">
      <DataTable
        rows={rows}
        columns={columns}
        rowId={(row) => row.name}
        label="Things"
        defaultSort="name"
        empty={<p>Nothing</p>}
        {...over}
      />
    </MantineProvider>,
  );
}
const names = async () => (await rowsOf("Things")).map(([name]) => name);

describe("a table", () => {
  it("sorts by a column both ways, and announces it to assistive technology", async () => {
    show();
    expect(await names()).toEqual(["a", "b", "c"]);
    press("Size");
    expect(await names()).toEqual(["b", "a", "c"]);
    expect(screen.getByRole("columnheader", { name: "Size" }).getAttribute("aria-sort")).toBe("descending");
    press("Size");
    expect(await names()).toEqual(["c", "a", "b"]);
  });

  it("keeps cells mounted, with the focus in them, when its parent makes columns anew", async () => {
    function Parent({ things }: { things: Row[] }) {
      const [presses, setPresses] = useState(0);
      const made = [
        {
          accessorKey: "name",
          header: () => <b>Name</b>,
          cell: ({ row }: { row: { original: Row } }) => (
            <button onClick={() => setPresses(presses + 1)}>
              {row.original.name} of {row.original.size}, {presses}
            </button>
          ),
        },
      ];
      return (
        <MantineProvider env="test">
          <DataTable rows={things} columns={made} rowId={(row) => row.name} label="Things" />
        </MantineProvider>
      );
    }
    const { rerender } = render(<Parent things={[{ name: "a", size: 1 }]} />);
    const button = await screen.findByRole("button", { name: "a of 1, 0" });
    const head = screen.getByText("Name");
    button.focus();
    press("a of 1, 0");
    rerender(<Parent things={[{ name: "a", size: 2 }]} />);
    expect(screen.getByRole("button", { name: "a of 2, 1" })).toBe(button);
    expect(document.activeElement).toBe(button);
    expect(screen.getByText("Name")).toBe(head);
  });

  it("keeps its view where the page says, from the first page on after a new order", () => {
    const onView = vi.fn();
    show({ view: { sort: "-name", page: 2 }, onView, pageSize: 2 });
    press("Name");
    expect(onView).toHaveBeenCalledExactlyOnceWith({ sort: "name", page: undefined });
  });

  it("shows a page at a time; one that is too far is the last, an unknown order is none", async () => {
    show({ view: { sort: "nonsense", page: 99 }, onView: () => undefined, pageSize: 2 });
    expect(await names()).toEqual(["c"]);
  });

  it("goes to the next page", async () => {
    show({ pageSize: 2 });
    fireEvent.click(await screen.findByRole("button", { name: "2" }));
    expect(await names()).toEqual(["c"]);
  });

  it("leaves order and pages to the server where that has them", async () => {
    const onView = vi.fn();
    show({ view: { sort: "-name", page: 2 }, onView, paged: { page: 2, size: 3, matched: 9 } });
    expect(await names()).toEqual(["b", "a", "c"]);
    expect(screen.getByText("4–6 of 9")).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "3" }));
    expect(onView).toHaveBeenLastCalledWith({ sort: "-name", page: 3 });
    press("Size");
    expect(onView).toHaveBeenLastCalledWith({ sort: "-size", page: undefined });
  });

  it("says what is there when nothing is", () => {
    show({ rows: [] });
    expect(screen.getByText("Nothing")).toBeTruthy();
    expect(screen.queryByRole("table")).toBeNull();
  });
});
