import { MantineProvider } from "@mantine/core";
import { fireEvent, render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { PartitionDiff } from "./partition-diff";

it("names every partition, a page at a time, sorted by number and not by digits", () => {
  const rows = [10, 2, 11, 1, 3, 4, 5, 6, 7, 8, 9, 12, 13].map((partition) => ({
    topic: "orders",
    partition,
    to: partition * 100,
  }));
  render(
    <MantineProvider env="test">
      <PartitionDiff rows={rows} columns={[{ accessorKey: "to", header: "To" }]} label="Offsets" />
    </MantineProvider>,
  );
  fireEvent.click(screen.getByText("Partition"));
  const cells = screen
    .getAllByRole("row")
    .slice(1)
    .map((row) => [...row.children].map((cell) => cell.textContent));
  expect(cells).toEqual(Array.from({ length: 12 }, (_, at) => [`orders-${at + 1}`, String((at + 1) * 100)]));
});
