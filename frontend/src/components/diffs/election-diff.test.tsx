import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { rowsOf } from "@/testing/app";
import type { ElectionDiffData } from "@/lib/types";
import { ElectionDiff } from "./election-diff";

const diff = (more: Partial<ElectionDiffData> = {}): ElectionDiffData => ({
  partitions: [
    { topic: "orders", partition: 0, before: 2, after: 1 },
    { topic: "orders", partition: 1, before: null, after: 3 },
  ],
  brokers: [
    { id: 1, before_leaders: 0, after_leaders: 1 },
    { id: 2, before_leaders: 1200, after_leaders: 1199 },
  ],
  blocked: [],
  blocked_total: 0,
  left_out: 0,
  ...more,
});
const show = (of: ElectionDiffData) =>
  render(
    <MantineProvider env="test">
      <ElectionDiff diff={of} />
    </MantineProvider>,
  );

describe("a plan to elect leaders", () => {
  it("shows leaders before and after, by broker and by partition", async () => {
    show(diff());
    expect(await rowsOf("Leaders by broker")).toEqual([
      ["1", "0", "1"],
      ["2", "1,200", "1,199"],
    ]);
    expect((await rowsOf("Partitions with another leader")).map((row) => row.slice(-2))).toEqual([
      ["2", "1"],
      ["none", "3"],
    ]);
    expect(screen.queryByText(/keep their leader/)).toBeNull();
  });

  it("says which partitions keep theirs, and what is left to the next plan", () => {
    const blocked = [{ topic: "sales", partition: 4, before: 2, after: 3 }];
    show(diff({ blocked, blocked_total: 7, left_out: 12 }));
    expect(screen.getByText("7 partitions keep their leader")).toBeTruthy();
    expect(screen.getByText(/sales-4 waits for broker 3, and others wait as well/)).toBeTruthy();
    expect(screen.getByText("12 partitions more are left to the next plan.")).toBeTruthy();
  });
});
