import { fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { figure, openPage, press, rowsOf } from "@/testing/app";
import { describePageStates } from "@/testing/page-states";
import { collector, expiry, retention, run, session } from "@/testing/samples";
import { lagPoint } from "@/testing/samples-groups";
import type { LagCounts, RetentionCounts } from "@/lib/types";
import { type Answers, ok, Refusal, unavailable } from "@/testing/server";

const AT = "2026-11-21T10:00:00Z";
const lag = (...data: ReturnType<typeof lagPoint>[]) => ({ as_of: data.length > 0 ? AT : null, run_id: null, data });
const held = (...data: ReturnType<typeof retention>[]) => ok({ as_of: AT, run_id: null, data });
const paged = { page: 1, size: 50, matched: 1 };
const lagCounts = (more: Partial<LagCounts> = {}): LagCounts => ({
  ...paged,
  groups: 1,
  topics: 1,
  in_trouble: 1,
  troubled: ["readers"],
  lag_records: 40,
  behind_s: 12,
  behind_is_exact: true,
  ...more,
});
const heldCounts = (more: Partial<RetentionCounts> = {}): RetentionCounts => ({
  ...paged,
  bytes: 2048,
  first_loss: expiry(),
  ...more,
});
const base = {
  lag: ok(lag(lagPoint())),
  lag_counts: ok(lagCounts()),
  retention: held(retention()),
  retention_counts: ok(heldCounts()),
  runs: ok([run()]),
  collector: ok(collector()),
};
const HISTORY = "GET /api/v1/clusters/c1/analytics/chart";
const line = (topic: string, ...typical: (number | null)[]) => ({
  group: "readers",
  topic,
  typical,
  highest: typical,
  known: typical.map(() => 1),
});
const chart = (more: object = {}, ...series: ReturnType<typeof line>[]) => ({
  as_of: AT,
  source: "windows",
  complete: true,
  ts_ms: series.length > 0 ? [Date.parse(AT)] : [],
  series,
  ...more,
});
const open = (parts: object = {}, more: Answers = {}) =>
  openPage("/clusters/c1/analytics", {
    "GET /console/api/pages/analytics/c1": { parts: { ...base, ...parts } },
    [HISTORY]: chart({}, line("sales", 40)),
    ...more,
  });

describePageStates({
  path: "/clusters/c1/analytics",
  page: "analytics/c1",
  title: "Lag and retention",
  parts: base,
  part: "runs",
  shows: "run_1",
  refusable: false,
  more: { [HISTORY]: chart() },
});

describe("lag and retention", () => {
  it("shows each group's verdict, a bound as a bound, a trend with its sign", async () => {
    await open({
      lag: ok(
        lag(
          lagPoint(),
          lagPoint({
            topic: "b",
            lag_records: 3,
            lag_seconds: null,
            lag_seconds_at_least: 60,
            trend: "shrinking",
            trend_records_per_s: -120,
            eta_seconds: 30,
            status: "CATCHING_UP",
          }),
          lagPoint({
            topic: "c",
            lag_records: null,
            uncommitted_partitions: 2,
            uncommitted_records: 4175,
            reasons: ["PARTIAL_COMMIT"],
            lag_seconds: null,
            trend: "unknown",
            trend_records_per_s: null,
            status: "UNKNOWN",
          }),
        ),
      ),
      lag_counts: ok(lagCounts({ topics: 3, lag_records: 43, behind_s: 60, behind_is_exact: false, matched: 3 })),
    });
    // In the server's order.
    expect(await rowsOf("Lag by group and topic")).toEqual([
      ["readers", "sales", "Falling behind", "40", "12s", "+2.5/s", "–"],
      ["readers", "b", "Catching up", "3", "≥ 1m", "−120/s", "30s"],
      ["readers", "c", "Unknown, some partitions not started", "up to 4,175 not started", "–", "unknown", "–"],
    ]);
    expect([figure("Groups followed"), figure("Groups in trouble"), figure("Lag"), figure("Furthest behind")]).toEqual([
      "13 topics",
      "1readers",
      "43over all groups",
      "≥ 1mthe slowest group",
    ]);
  });

  it("shows what is held and when it is lost unread", async () => {
    await open({
      retention: held(
        retention(),
        retention({ topic: "kept", bytes: 1, age_seconds: null, retention_ms: -1, groups: [] }),
      ),
    });
    expect(await rowsOf("Retention by topic")).toEqual([
      ["sales", "2 KiB", "30m", "1h", "in 2h", "Watch"],
      ["kept", "1 B", "–", "for ever", "nothing unread", "–"],
    ]);
    expect(figure("First unread loss")).toBe("in 2hreaders, at its present pace");
  });

  it("names the group that is in the worst danger first", async () => {
    const dying = expiry({ group: "dying", status: "LOSING" });
    await open({
      retention: held(retention({ groups: [expiry(), dying] })),
      retention_counts: ok(heldCounts({ first_loss: dying })),
    });
    await rowsOf("Retention by topic");
    expect(figure("First unread loss")).toBe("nowdying, at its present pace");
  });

  it("asks for the order and the page of each table, which the address keeps", async () => {
    const { asked, router } = await open({
      lag_counts: ok(lagCounts({ matched: 120 })),
      retention_counts: ok(heldCounts({ matched: 70 })),
    });
    await rowsOf("Lag by group and topic");
    const [ofLag, ofTopics] = await screen.findAllByRole("button", { name: "2" });
    fireEvent.click(ofTopics as HTMLElement);
    await waitFor(() => expect(router.state.location.search).toEqual({ tpage: 2 }));
    fireEvent.click(ofLag as HTMLElement);
    await waitFor(() => expect(router.state.location.search).toEqual({ tpage: 2, page: 2 }));
    press("Behind by");
    await waitFor(() => expect(router.state.location.search).toEqual({ tpage: 2, sort: "-seconds" }));
    await waitFor(() => {
      const last = asked.filter((one) => one.url.includes("pages/analytics")).at(-1)?.url ?? "";
      expect(Object.fromEntries(new URLSearchParams(last.split("?")[1]))).toEqual({
        sort: "-seconds",
        topics_page: "2",
      });
    });
  });

  it("says that figures are not known while their part is not", async () => {
    await open({ retention_counts: unavailable("Later.") });
    await rowsOf("Lag by group and topic");
    expect([figure("Groups followed"), figure("Data held")]).toEqual(["11 topic", "–"]);
  });

  it("draws the unread records of each group", async () => {
    await open();
    expect((await screen.findByRole("img", { name: "Lag by group over time" })).textContent).toBe("readers: 40");
    expect(screen.queryByText(/with the highest lag/)).toBeNull();
  });

  it("says that only the highest are drawn, each for itself", async () => {
    await open({}, { [HISTORY]: chart({ complete: false }, line("sales", 40), line("b", 2)) });
    const drawn = (await screen.findByRole("img", { name: "Lag by group over time" })).textContent;
    expect(drawn).toContain("readers on sales: 40");
    expect(drawn).toContain("readers on b: 2");
    expect(screen.getByText(/^The 2 with the highest lag in this range are drawn/)).toBeTruthy();
  });

  it("knows nothing before the first run, and says when that is due", async () => {
    await open(
      {
        lag: ok(lag()),
        retention: held(),
        runs: ok([]),
        collector: ok(collector({ first_verdict_due_at: new Date(Date.now() + 150_000).toISOString() })),
      },
      { [HISTORY]: chart() },
    );
    expect(await screen.findByText(/the first run that can judge them is due/)).toBeTruthy();
    expect(figure("Groups followed")).toBe("–after the first run");
    for (const text of [
      "No group has been followed yet",
      "No topic has been measured yet",
      "No run yet",
      "No history in this range yet",
    ])
      expect(await screen.findByText(text)).toBeTruthy();
  });

  it("says what of the cluster's telemetry a run did not find", async () => {
    const part = { offsets_end: {}, records_in: 9, records_rejected: 0, error: null };
    const found = (cluster_id: string, records_skipped: number, telemetry_recreated = false) => ({
      ...part,
      cluster_id,
      records_skipped,
      telemetry_recreated,
    });
    const runs = [[found("c1", 1200)], [found("c1", 0, true)], [found("c1", 0)], [found("c2", 7)]];
    await open({ runs: ok(runs.map((clusters, number) => run({ id: `run_${number}`, clusters }))) });
    const states = (await rowsOf("Analytics runs")).map((row) => row[1]);
    expect(states).toEqual([
      "succeeded1,200 telemetry records missing",
      "succeededtelemetry topic made again",
      "succeeded",
      "succeeded",
    ]);
  });

  it("starts a run, or says why it cannot", async () => {
    const { asked } = await open(
      {},
      { "POST /api/v1/analytics/runs": new Refusal(409, "A run is under way", "run_7 is running.") },
    );
    await rowsOf("Analytics runs");
    press("Run now");
    expect(await screen.findByText("run_7 is running.")).toBeTruthy();
    expect(asked.some((one) => one.url === "/api/v1/analytics/runs")).toBe(true);
  });

  it("keeps the rest when the history fails, and asks for the range that the address names", async () => {
    const { asked } = await open({}, { [HISTORY]: new Refusal(503, "Away", "The database is busy.") });
    expect((await screen.findByRole("alert")).textContent).toContain("The database is busy.");
    expect(await rowsOf("Lag by group and topic")).toHaveLength(1);
    await waitFor(() =>
      expect(asked.some((one) => /analytics\/chart\?measure=lag_records&points=\d+&from=/.test(one.url))).toBe(true),
    );
  });

  it("lets a viewer start no run", async () => {
    await open({}, { "GET /console/api/session": session({ can_write: false, can_write_tenant: false }) });
    await rowsOf("Analytics runs");
    expect(screen.queryByRole("button", { name: "Run now" })).toBeNull();
  });
});
