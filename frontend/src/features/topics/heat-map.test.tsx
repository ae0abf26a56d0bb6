import { MantineProvider } from "@mantine/core";
import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { partition } from "@/testing/samples";
import { HeatMap, levelOf, placeAfter } from "./heat-map";

const opened = vi.fn();
const map = () => screen.getByRole("group", { name: /by partition/ });
const show = (...partitions: ReturnType<typeof partition>[]) =>
  render(
    <MantineProvider env="test">
      <HeatMap partitions={partitions} onOpen={opened} />
    </MantineProvider>,
  );
const cells = () => [...map().children].map((cell) => [cell.getAttribute("title"), cell.getAttribute("data-level")]);

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
    expect(map().getAttribute("aria-label")).toBe(
      "Size by partition: from 1 KiB in partition 0 to 5 KiB in partition 1; of 1 not known",
    );
    fireEvent.click(screen.getByLabelText("Records"));
    expect(cells()[0]).toEqual(["Partition 0: 500 records", "5"]);
    fireEvent.click(screen.getByLabelText("Out of sync"));
    expect(cells()[0]).toEqual(["Partition 0: 0 out of sync", "0"]);
  });

  it("opens a partition, and is walked by arrows as one stop of Tab", () => {
    show(partition(), partition({ partition: 1 }), partition({ partition: 2 }));
    const stops = () => [...map().children].map((cell) => (cell as HTMLElement).tabIndex);
    expect(stops()).toEqual([0, -1, -1]);
    const [first] = map().children as unknown as [HTMLElement];
    first.focus();
    fireEvent.keyDown(first, { key: "ArrowRight" });
    expect(document.activeElement?.getAttribute("title")).toMatch(/^Partition 1:/);
    expect(stops()).toEqual([-1, 0, -1]);
    fireEvent.click(document.activeElement as HTMLElement);
    expect(opened).toHaveBeenLastCalledWith(1);
  });

  it("goes by rows with up and down, and stays within", () => {
    const from = (key: string, at: number) => placeAfter(key, at, 10, 4);
    expect([from("ArrowDown", 1), from("ArrowUp", 5), from("ArrowUp", 1), from("ArrowDown", 8)]).toEqual([5, 1, 1, 8]);
    expect([from("ArrowLeft", 0), from("ArrowRight", 9), from("Home", 5), from("End", 5)]).toEqual([0, 9, 0, 9]);
    expect(from("a", 5)).toBeUndefined();
  });

  it("says that nothing is known", () => {
    show(partition({ size_bytes: null }));
    expect(map().getAttribute("aria-label")).toBe("Size by partition: not known");
  });
});
