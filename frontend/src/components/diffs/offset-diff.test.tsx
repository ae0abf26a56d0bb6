import { MantineProvider } from "@mantine/core";
import { render } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { rowsOf } from "@/testing/app";
import type { OffsetDiffData } from "@/lib/types";
import { OffsetDiff } from "./offset-diff";

type Row = OffsetDiffData["partitions"][number];

const row = (partition: number, fields: Partial<Row>): Row => ({
  topic: "sales",
  partition,
  from: 60,
  to: 60,
  log_start: 0,
  log_end: 100,
  effect: "none",
  records: 0,
  reason: "",
  ...fields,
});

describe("offsets before and after", () => {
  it("say what becomes of the records, and that a removed commit leaves it to the consumers", async () => {
    const partitions = [
      row(0, { to: 0, effect: "reread", records: 60 }),
      row(1, { to: 100, effect: "skip", records: 40 }),
      row(2, { from: null, to: 60, effect: "first", records: 40 }),
      row(3, { to: null, effect: "removed", records: null }),
      row(4, {}),
      row(5, { log_start: null, log_end: null, effect: "unknown", records: null }),
    ];
    render(
      <MantineProvider env="test">
        <OffsetDiff diff={{ partitions }} />
      </MantineProvider>,
    );
    const effects = (await rowsOf("Offsets before and after")).map((cells) => cells[3]);
    expect(effects).toEqual([
      "60 read again",
      "40 skipped",
      "40 read from here on",
      "commit removed: auto.offset.reset decides",
      "no change",
      "unknown: no leader",
    ]);
  });
});
