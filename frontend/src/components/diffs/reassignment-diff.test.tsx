import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { rowsOf } from "@/testing/app";
import { ReassignmentDiff } from "./reassignment-diff";

const move = { topic: "sales", partition: 0, before: [1], after: [2], bytes: 2048, size_bytes: 2048 };
const load = {
  id: 1,
  before_bytes: 4096,
  after_bytes: 2048,
  before_replicas: 3,
  after_replicas: 2,
  before_leaders: 2,
  after_leaders: 1,
  before_rack_violations: 1,
  after_rack_violations: 0,
};
const away = { ...load, id: 2, before_bytes: null, after_bytes: null, before_replicas: null, after_replicas: null };

describe("moves of partitions", () => {
  it("say unknown where a broker did not say, and never 0", async () => {
    const partitions = [move, { ...move, partition: 1, bytes: null, size_bytes: null }];
    render(
      <MantineProvider env="test">
        <ReassignmentDiff diff={{ partitions, brokers: [load, away], balance: null, limits: [] }} />
      </MantineProvider>,
    );
    expect((await rowsOf("Partition moves")).map((cells) => cells.at(-1))).toEqual(["2 KiB", "unknown"]);
    const loads = (await rowsOf("Brokers before and after")).map((cells) => cells.slice(-4, -2));
    expect(loads).toEqual([
      ["4 KiB → 2 KiB", "3 → 2"],
      ["unknown → unknown", "unknown → unknown"],
    ]);
    expect(screen.queryByText("0 B")).toBeNull();
  });
});
