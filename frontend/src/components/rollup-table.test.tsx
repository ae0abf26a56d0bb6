import { render, screen } from "@testing-library/react";
import { MantineProvider } from "@mantine/core";
import { describe, expect, it } from "vitest";
import { rowsOf } from "@/testing/app";
import { ClusterRollupTable, GroupRollupTable, periodWords, TopicRollupTable } from "./rollup-table";
import type { ClusterRollup, GroupRollup, TopicRollup } from "@/lib/insights";

const TS = "2026-11-21T10:00:00Z";
const shown = (table: React.ReactNode) => render(<MantineProvider env="test">{table}</MantineProvider>);
const GROUP = {
  ts: TS,
  group: "readers",
  topic: "sales",
  samples: 60,
  expected: 120,
  lag_seconds_p50: 2,
  lag_seconds_p95: 90,
  lag_seconds_p99: null,
  lag_seconds_max: 3600,
  lag_records_max: 12_345,
  worst_partition: 4,
  worst_partition_lag_records: 9000,
  lost_records: 7,
} as GroupRollup;

describe("hours and days as numbers", () => {
  it("have percentiles, the worst partition, and how much was seen", async () => {
    shown(
      <GroupRollupTable
        rows={[
          GROUP,
          { ...GROUP, ts: "2026-11-21T11:00:00Z", worst_partition: null },
          { ...GROUP, ts: "2026-11-21T12:00:00Z", worst_partition_lag_records: null },
        ]}
        periodS={3600}
      />,
    );
    const rows = (await rowsOf("Group by hours and days")).map((row) => row.slice(1));
    expect(rows).toEqual([
      ["sales", "2s", "1m 30s", "not known", "1h", "12.3k", "4, lag not known", "7", "50 %"],
      ["sales", "2s", "1m 30s", "not known", "1h", "12.3k", "not known", "7", "50 %"],
      ["sales", "2s", "1m 30s", "not known", "1h", "12.3k", "4, 9,000 behind", "7", "50 %"],
    ]);
    expect(screen.getAllByTitle("12,345 records")).toHaveLength(3);
    expect(screen.getAllByTitle("60 of 120 windows")).toHaveLength(3);
  });

  it("name a day as UTC has it, and an hour in one's own time", () => {
    expect(periodWords("2026-11-21T00:00:00Z", 86_400)).toBe("21 Nov 2026");
    expect(periodWords(TS, 3600)).toBe(
      new Date(TS).toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" }),
    );
    expect(periodWords("nonsense", 3600)).toBe("nonsense");
  });

  it("say of topics and clusters what is not known", async () => {
    const held = { ts: TS, samples: 0, expected: 0, bytes_avg: null, bytes_max: 2048, bytes_in: 1024, records_in: 0 };
    shown(
      <>
        <TopicRollupTable
          rows={[{ ...held, busiest_partition: 2, busiest_share: 0.52 } as TopicRollup]}
          periodS={3600}
        />
        <ClusterRollupTable
          rows={[{ ...held, lag_seconds_p95: null, lost_records: null } as ClusterRollup]}
          periodS={3600}
        />
      </>,
    );
    expect((await rowsOf("Topic by hours and days"))[0]?.slice(1)).toEqual([
      "not known",
      "2 KiB",
      "1 KiB",
      "0",
      "2, 52 % of the records",
      "not known",
    ]);
    expect((await rowsOf("Cluster by hours and days"))[0]?.slice(5)).toEqual(["not known", "not known", "not known"]);
  });
});
