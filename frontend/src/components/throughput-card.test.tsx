import { fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, whole } from "@/testing/app";
import { cluster } from "@/testing/samples";
import { lineOf, throughput } from "@/testing/samples-throughput";
import { type Answers, ok, PENDING, Refusal } from "@/testing/server";

const ADDRESS = "/api/v1/clusters/c1/analytics/throughput";
const parts = {
  cluster: ok(cluster()),
  summary: ok(null),
  loads: ok([]),
  reassignments: ok({ total: 0, rows: [], unknown: [] }),
  attention: ok([]),
  events: ok([]),
  operations: ok([]),
  client_config: ok(null),
};
const open = (answer: unknown, search = "", more: Answers = {}) =>
  openPage(`/clusters/c1${search}`, {
    "GET /console/api/pages/cluster/c1": { parts },
    [`GET ${ADDRESS}`]: answer,
    ...more,
  });

const measured = throughput({
  as_of: "2026-11-21T10:00:00Z",
  stale_after: "2100-01-01T00:00:00Z",
  from: "2026-11-21T09:58:00Z",
  to: "2026-11-21T10:00:00Z",
  ts_ms: [0, 30_000, 60_000, 90_000],
  series: [lineOf([4, null, 2, 3], { records_out_per_s: [1, null, 1, 1] })],
});

describe("throughput", () => {
  it("draws what is written and read, and leaves a gap a gap", async () => {
    await open(measured);
    const records = await screen.findByRole("img", { name: "Records a second over time" });
    expect(records.textContent).toBe("written: 4 gap 2 3read by groups: 1 gap 1 1");
    // What is read in bytes is not known: there is no line of it.
    expect(screen.getByRole("img", { name: "Bytes a second over time" }).textContent).toBe(
      "written: 4096 gap 2048 3072",
    );
    expect(screen.getByText("by samples, a point each 30 s")).toBeTruthy();
  });

  it("keeps the range in the address and asks for it", async () => {
    const { asked, router } = await open(measured);
    fireEvent.click(await screen.findByLabelText("7d"));
    await waitFor(() => expect(router.state.location.search).toEqual({ range: "7d" }));
    await waitFor(() =>
      expect(asked.some((one) => one.url === `${ADDRESS}?of=cluster&range=7d&points=240`)).toBe(true),
    );
  });

  it.each(["?range=24h", "?range=2h"])("takes the range of the address, if it is one (%s)", async (search) => {
    const { asked } = await open(measured, search);
    await screen.findByRole("img", { name: "Records a second over time" });
    const range = search === "?range=24h" ? "24h" : "1h";
    expect(asked.filter((one) => one.url.startsWith(ADDRESS)).every((one) => one.url.includes(`range=${range}`))).toBe(
      true,
    );
  });

  it("says when what is shown is old", async () => {
    await open({ ...measured, stale_after: "2026-11-21T10:01:30Z" });
    expect((await screen.findByText(/stale: as of/)).className).toBe("ps-warn");
  });

  it("says that sums are of what is known, and what is missing", async () => {
    const series = [lineOf([4, 4], { known: [0.5, 1] })];
    await open({ ...measured, ts_ms: [0, 30_000], series, complete: false, reason: "Not kept: too many." });
    expect(await screen.findByText(whole("at least: 75 % is known"))).toBeTruthy();
    expect(screen.getByText("Not kept: too many.")).toBeTruthy();
  });

  it.each([
    [throughput(), "Not measured yet"],
    [{ ...measured, series: [lineOf([null, null])] }, "Nothing is known in this range"],
    [{ ...measured, source: "hours", series: [] }, "Nothing is known in this range"],
  ])("says when there is nothing to draw (%#)", async (answer, text) => {
    await open(answer);
    expect(await screen.findByText(text)).toBeTruthy();
  });

  it("waits, and offers to try again what failed", async () => {
    await open(PENDING);
    expect((await screen.findAllByLabelText("Loading")).length).toBeGreaterThan(0);
  });

  it("says what failed", async () => {
    await open(new Refusal(500, "The request cannot be served", "The service failed on its side."));
    expect(await screen.findByText("The service failed on its side.")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Try again" })).toBeTruthy();
  });

  it("is not there for who sees a part of the cluster", async () => {
    const { asked } = await open(new Refusal(404, "Not found", "There are no totals of this cluster for you."));
    await waitFor(() => expect(asked.some((one) => one.url.startsWith(ADDRESS))).toBe(true));
    await waitFor(() => expect(screen.queryByRole("heading", { name: "Throughput" })).toBeNull());
  });
});
