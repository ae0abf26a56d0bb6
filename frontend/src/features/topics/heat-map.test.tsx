import { MantineProvider } from "@mantine/core";
import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { partition } from "@/testing/samples";
import { HeatMap, levelOf } from "./heat-map";

const show = (...partitions: ReturnType<typeof partition>[]) =>
  render(
    <MantineProvider env="test">
      <HeatMap partitions={partitions} />
    </MantineProvider>,
  );
const cells = () =>
  [...screen.getByRole("img").children].map((cell) => [cell.getAttribute("title"), cell.getAttribute("data-level")]);

describe("the map of partitions", () => {
  it("has five steps of the largest, nothing, and not known", () => {
    expect([0, 1, 20, 21, 60, 100].map((value) => levelOf(value, 100))).toEqual([0, 1, 1, 2, 3, 5]);
    expect([levelOf(null, 100), levelOf(0, 0)]).toEqual([null, 0]);
  });

  it("shows each partition's measure, and says in words from what to what", () => {
    show(
      partition({ size_bytes: 1024, log_end: 500 }),
      partition({ partition: 1, size_bytes: 5120, leader: null }),
      partition({ partition: 2, size_bytes: null }),
    );
    expect(cells()).toEqual([
      ["Partition 0: 1 KiB", "1"],
      ["Partition 1: 5 KiB, no leader", "5"],
      ["Partition 2: not known", "unknown"],
    ]);
    expect(screen.getByRole("img").getAttribute("aria-label")).toBe(
      "Size by partition: from 1 KiB in partition 0 to 5 KiB in partition 1; of 1 not known",
    );
    fireEvent.click(screen.getByLabelText("Records"));
    expect(cells()[0]).toEqual(["Partition 0: 500 records", "5"]);
    fireEvent.click(screen.getByLabelText("Out of sync"));
    expect(cells()[0]).toEqual(["Partition 0: 0 out of sync", "0"]);
  });

  it("says that nothing is known", () => {
    show(partition({ size_bytes: null }));
    expect(screen.getByRole("img").getAttribute("aria-label")).toBe("Size by partition: not known");
  });
});
