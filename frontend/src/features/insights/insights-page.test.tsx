import { screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { figure, fill, heading, openPage, rowsOf, whole } from "@/testing/app";
import { type Answers, PENDING, Refusal } from "@/testing/server";

const BASE = "GET /api/v1/clusters/c1/analytics";
const told = (data: object[], more: object = {}) => ({
  analysis: "x",
  formula_version: 2,
  inputs: [],
  run_id: "run_1",
  as_of: "2026-11-21T10:00:00Z",
  from: "2026-11-20T10:00:00Z",
  to: "2026-11-21T10:00:00Z",
  seen_share: 0.5,
  complete: true,
  data,
  ...more,
});
const FORECAST = {
  verdict: "unknown",
  days: 2,
  disk_bytes: 2048,
  capacity_bytes: null,
  used_share: null,
  growth_bytes_per_day_p10: null,
  growth_bytes_per_day_p50: 1024,
  growth_bytes_per_day_p90: 2048,
  days_to_80_p10: null,
  days_to_80_p50: null,
  days_to_80_p90: null,
};
const USAGE = {
  topic: "sales",
  group: null,
  gib_hours: 12.345,
  gib_in: null,
  gib_out: 0.5,
  hours: 24,
  replicas: 3,
  cost: null,
  currency: null,
};
const IMPACT = {
  event_id: "ev_1",
  action: "topic.change.succeeded",
  resource: "topic/sales",
  outcome: "succeeded",
  actor: "ada",
  begin_ms: 0,
  end_ms: 1_763_000_000_000,
  others: 0,
  topic: "sales",
  group: null,
  measure: "lag_seconds_p95",
  before: 30,
  after: 60,
  change_share: 1,
  verdict: "rose",
  hours_before: 6,
  hours_after: 5,
  hours_asked: 6,
};
const answers: Answers = {
  [`${BASE}/rollups/cluster`]: told([], { as_of: null, period_s: 3600 }),
  [`${BASE}/disk-forecast`]: told([FORECAST]),
  [`${BASE}/usage`]: told([USAGE, { ...USAGE, group: "readers", cost: "1.2345", currency: "EUR", gib_hours: 1 }]),
  [`${BASE}/change-impact`]: told([
    { ...IMPACT, measure: "bytes_last", before: 2048, after: null, change_share: null, verdict: "unknown" },
    { ...IMPACT, group: "readers", others: 2 },
    { ...IMPACT, topic: null, measure: "records_in", before: 10, after: 5, change_share: -0.5, verdict: "fell" },
  ]),
  [`${BASE}/hot-partitions`]: told([
    {
      topic: "even",
      verdict: "even",
      busiest_share: 0.2,
      busiest_partition: 1,
      fair_share: 0.166,
      gini: 0,
      hours: 24,
      partitions: 6,
      records_in: 10,
    },
    {
      topic: "skewed",
      verdict: "hot",
      busiest_share: 0.8,
      busiest_partition: 4,
      fair_share: 0.166,
      gini: 0.7,
      hours: 24,
      partitions: 6,
      records_in: null,
    },
  ]),
  [`${BASE}/silent-producers`]: told([
    {
      topic: "orders",
      verdict: "silent",
      hour_ms: 0,
      hours_compared: 7,
      records: 0,
      usual_records: 7200.4,
      share_of_usual: 0,
      last_write_ms: null,
    },
  ]),
  [`${BASE}/unused-topics`]: told([
    {
      topic: "old",
      verdict: "unused",
      bytes_last: null,
      groups: 0,
      last_read_ms: null,
      last_write_ms: null,
      observed_since_ms: 1_763_000_000_000,
      records_in: 0,
      seen_share: 0.99,
    },
  ]),
};
const open = (more: Answers = {}) => openPage("/clusters/c1/usage", { ...answers, ...more });

describe("usage and forecasts", () => {
  it("says what is not known, never 0 in its place", async () => {
    await open();
    expect(await rowsOf("Usage")).toEqual([
      ["sales", "the topic itself", "12.3", "not known", "0.500", "not known", "24"],
      ["sales", "readers", "1.00", "–", "0.500", "1.23 EUR", "24"],
    ]);
    expect(figure("To 80 %")).toBe("not knownsay what the disks hold");
    expect(figure("Growth")).toBe("1 KiB a daynot known to 2 KiB a day");
    expect((await rowsOf("Hot partitions")).map((row) => row.slice(0, 3))).toEqual([
      ["skewed", "Hot", "80 % on 4"],
      ["even", "Even", "20 % on 1"],
    ]);
    const impact = (await rowsOf("Change impact")).map(([changed, ...rest]) => [changed?.split(" · ")[1], ...rest]);
    expect(impact).toEqual([
      ["2 more in these hours", "readers", "behind by, 95th percentile", "Rose", "30s", "1m", "+100 %", "6 and 5 of 6"],
      [undefined, "the cluster", "records written", "Fell", "10", "5", "−50 %", "6 and 5 of 6"],
      [undefined, "sales", "bytes held", "Not known", "2 KiB", "not known", "not known", "6 and 5 of 6"],
    ]);
    expect((await rowsOf("Silent producers"))[0]).toEqual(["orders", "Silent", "0 %", "0", "7,200", "not known"]);
    expect((await rowsOf("Unused topics"))[0]?.slice(0, 6)).toEqual([
      "old",
      "Unused",
      "none seen",
      "none seen",
      "0",
      "not known",
    ]);
  });

  it("says how old an answer is, how much was seen, and by which formula", async () => {
    await open();
    await rowsOf("Usage");
    expect(screen.getAllByText(whole(/50 % of the range was seen/)).length).toBe(6);
    expect(screen.getAllByText("formula 2").length).toBe(6);
    expect(screen.getByText("Not known yet")).toBeTruthy();
  });

  it("asks for the forecast with what the disks hold", async () => {
    const { asked } = await open();
    await rowsOf("Usage");
    fill("All brokers' disks, GiB", "100");
    await waitFor(() =>
      expect(asked.map((one) => one.url)).toContain(
        "/api/v1/clusters/c1/analytics/disk-forecast?capacity_bytes=107374182400",
      ),
    );
  });

  it("keeps the rest when one analysis fails, and says that rows are missing", async () => {
    await open({
      [`${BASE}/hot-partitions`]: new Refusal(500, "It cannot be served", "The service failed on its side."),
      [`${BASE}/unused-topics`]: told([], { complete: false }),
    });
    expect(await screen.findByText("The service failed on its side.")).toBeTruthy();
    expect(screen.getByText(/Not all rows are shown/)).toBeTruthy();
    expect(await rowsOf("Usage")).toHaveLength(2);
  });

  it("shows placeholders while an answer is awaited", async () => {
    await open({ [`${BASE}/usage`]: PENDING });
    expect((await screen.findAllByLabelText("Loading")).length).toBeGreaterThan(0);
  });

  it("gives way to a refusal", async () => {
    await open({ [`${BASE}/usage`]: new Refusal(404, "Cluster not found") });
    await waitFor(() => expect(heading()).toBe("Cluster not found"));
  });
});

describe("analyses of a topic and of a group", () => {
  it("show what another retention would have meant, with the present one marked", async () => {
    const what = { groups_unknown: 0, bytes_freed: 10, disk_freed_bytes: null, bytes_held: 4096 };
    await openPage("/clusters/c1/topics/sales?tab=analyses", {
      "GET /console/api/pages/topic/c1/sales": new Refusal(503, "later"),
      [`${BASE}/rollups/topics`]: told([], { period_s: 3600 }),
      [`${BASE}/retention/sales/what-if`]: told([
        { ...what, retention_s: 3600, groups_losing: 2, groups_unknown: 1 },
        { ...what, retention_s: 86_400, groups_losing: 0 },
      ]),
      [`${BASE}/retention/sales/what-if/groups`]: told([
        {
          group: "readers",
          retention_s: 3600,
          verdict: "would_lose",
          losing_hours: 3,
          unknown_hours: 1,
          first_ms: 1_763_000_000_000,
          last_ms: 1_763_010_000_000,
        },
      ]),
    });
    expect(await rowsOf("What if")).toEqual([
      ["1h", "4 KiB", "not known", "2 and 1 not known"],
      ["1d", "4 KiB", "not known", "0"],
    ]);
    expect((await rowsOf("What if, by group"))[0]?.slice(0, 4)).toEqual([
      "readers",
      "1h",
      "Would have lost records",
      "3 and 1 not known",
    ]);
  });

  it("show how fast a group uses up the time that it may be late", async () => {
    await openPage("/clusters/c1/groups/readers?tab=analyses", {
      "GET /console/api/pages/group/c1/readers": new Refusal(503, "later"),
      [`${BASE}/rollups/groups`]: told([], { period_s: 3600 }),
      [`${BASE}/chart`]: {
        as_of: "2026-11-21T10:00:00Z",
        source: "windows",
        complete: true,
        ts_ms: [10, 20],
        series: [{ topic: "sales", group: "readers", typical: [5, null], highest: [9, null], known: [1, null] }],
      },
      [`${BASE}/lag-objectives`]: told([
        {
          group: "readers",
          topic: "sales",
          objective_id: null,
          seconds: 60,
          share: 0.99,
          verdict: "fast_burn",
          good: 90,
          bad: 10,
          unknown: 5,
          good_share: 0.9,
          budget_left: -9,
          burn_5m: 20,
          burn_30m: 15,
          burn_1h: 14.44,
          burn_6h: null,
        },
      ]),
    });
    expect((await screen.findByRole("img", { name: "Behind by, any range over time" })).textContent).toBe(
      "sales: 5 gapsales, peak: 9 gap",
    );
    expect(screen.getByText(whole("50 % of the range is known"))).toBeTruthy();
    expect(await rowsOf("Objectives")).toEqual([
      [
        "sales",
        "Fast burn",
        "≤ 1m, 99 %default",
        "90 %",
        "−900 %",
        "20×",
        "15×",
        "14.4×",
        "not known",
        "5 of 105 windows",
      ],
    ]);
  });
});
