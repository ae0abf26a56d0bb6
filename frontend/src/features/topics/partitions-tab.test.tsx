import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { Replica } from "@/lib/types";
import { openPage, press, rowsOf } from "@/testing/app";
import { partition, topic } from "@/testing/samples";
import { lineOf, throughput } from "@/testing/samples-throughput";
import { ok, PENDING, stale, unavailable } from "@/testing/server";

const PATH = "/clusters/c1/topics/sales";
const THROUGHPUT = "/api/v1/clusters/c1/analytics/throughput";
const replica = (fields: Partial<Replica> = {}): Replica => ({
  broker: 1,
  is_leader: true,
  in_sync: true,
  is_assigned: true,
  is_future: false,
  size_bytes: 2048,
  offset_lag: 0,
  log_dir: "/data/1",
  unknown_because: null,
  ...fields,
});
const held = (replicas: Replica[], gaps: string[] = []) => ({
  as_of: "2026-11-21T10:00:00Z",
  complete: gaps.length === 0,
  gaps,
  partition_count: 1,
  data: [{ partition: 0, leader: 1, replicas }],
});
const ALL = [
  replica(),
  replica({ broker: 2, is_leader: false, in_sync: false, size_bytes: 1024, offset_lag: 1204 }),
  replica({ broker: 2, is_leader: false, is_future: true, size_bytes: 512, log_dir: "/disk2" }),
  replica({
    broker: 3,
    is_leader: false,
    size_bytes: null,
    offset_lag: null,
    log_dir: null,
    unknown_because: "broker 3 did not answer",
  }),
];
const open = (replicas: unknown, search = "", measured: unknown = throughput()) =>
  openPage(`${PATH}${search}`, {
    "GET /console/api/pages/topic/c1/sales": {
      parts: {
        topic: ok(topic({ partitions: [partition(), partition({ partition: 1 })] })),
        retention: unavailable("x"),
      },
    },
    "GET /console/api/pages/replicas/c1/sales": replicas,
    [`GET ${THROUGHPUT}`]: measured,
  });
const parts = (data: unknown) => ({ parts: { replicas: data } });

describe("the replicas of a topic's partitions", () => {
  it("have their sizes in the table, with what is behind, on its way and not known", async () => {
    await open(parts(ok(held(ALL, ["broker 3 did not answer"]))));
    await waitFor(async () => {
      const cells = (await rowsOf("Partitions")).map((row) => row[8]);
      expect(cells).toEqual(["2 KiB · 1 KiB −1,204 · 512 B on its way · not known", "not known"]);
    });
    expect(screen.getByTitle(/^broker 2: 1,024 bytes, 1,?204 records behind, in \/data\/1$/)).toBeTruthy();
    expect(screen.getByText("The size of some replicas is not known: broker 3 did not answer")).toBeTruthy();
  });

  it("are not known while nobody has said, and the rest of the table stays", async () => {
    await open(PENDING);
    expect((await rowsOf("Partitions")).map((row) => row[8])).toEqual(["not known", "not known"]);
    cleanup();
    await open(parts(unavailable("The cluster did not answer in time.")));
    expect(
      await screen.findByText(/size of some replicas is not known: The cluster did not answer in time\./),
    ).toBeTruthy();
  });
});

describe("one partition", () => {
  it("is opened from the table, is in the address, and gives the focus back", async () => {
    const { router, asked } = await open(parts(ok(held(ALL))));
    const button = within(await screen.findByRole("table", { name: "Partitions" })).getByRole("button", { name: "0" });
    button.focus();
    fireEvent.click(button);
    await screen.findByRole("heading", { name: "Partition 0" });
    expect(router.state.location.search).toEqual({ partition: 0 });
    await waitFor(() =>
      expect(asked.some((one) => one.url.includes("of=partition&topic=sales&partition=0&range=1h"))).toBe(true),
    );
    press("Close partition 0");
    await waitFor(() => expect(router.state.location.search).toEqual({}));
    expect(screen.queryByRole("heading", { name: "Partition 0" })).toBeNull();
    expect(document.activeElement).toBe(button);
  });

  it("shows by its link what goes in and out, where its log is, and its replicas", async () => {
    const measured = throughput({
      of: "partition",
      as_of: "2026-11-21T10:00:00Z",
      stale_after: "2100-01-01T00:00:00Z",
      from: "2026-11-21T09:58:00Z",
      to: "2026-11-21T10:00:00Z",
      ts_ms: [0, 30_000],
      series: [lineOf([4, 2], { topic: "sales", partition: 0, records_out_per_s: [1, null] })],
    });
    await open(parts(ok(held(ALL))), "?partition=0", (asked: { url: string }) =>
      asked.url.includes("of=partition") ? measured : throughput(),
    );
    expect(await screen.findByRole("heading", { name: "Throughput of partition 0" })).toBeTruthy();
    const chart = await screen.findByRole("img", { name: "Records a second over time" });
    expect(chart.textContent).toBe("written: 4 2read by groups: 1 gap");
    expect(await rowsOf("Replicas of partition 0")).toEqual([
      ["broker 1", "leader", "2 KiB", "0", "/data/1"],
      ["broker 2", "not in sync", "1 KiB", "1,204", "/data/1"],
      ["broker 2", "copy on its way", "512 B", "0", "/disk2"],
      ["broker 3", "in sync", "not known", "–", "broker 3 did not answer"],
    ]);
  });

  it("reaches as far back as the address says, without joining what is apart, and keeps that there", async () => {
    const hours = throughput({
      of: "partition",
      range: "7d",
      source: "hours",
      step_s: 3600,
      as_of: "2026-11-21T10:00:00Z",
      stale_after: "2100-01-01T00:00:00Z",
      to: "1970-01-01T03:00:00Z",
      ts_ms: [0, 3_600_000, 7_200_000],
      series: [lineOf([4, null, 2], { topic: "sales", partition: 0 })],
    });
    const { router, asked } = await open(parts(ok(held(ALL))), "?partition=0&range=7d", (one: { url: string }) =>
      one.url.includes("of=partition") ? hours : throughput(),
    );
    const chart = await screen.findByRole("img", { name: "Records a second over time" });
    expect(chart.textContent).toBe("written: 4 gap 2");
    expect(screen.getByText("by hours, a point each 1 h")).toBeTruthy();
    expect(screen.getByText("of a partition’s hours and days what was written is kept")).toBeTruthy();
    const urls = () => asked.map((one) => one.url);
    expect(urls().some((url) => url.includes("of=partition&topic=sales&partition=0&range=7d"))).toBe(true);
    expect(urls().some((url) => url.includes("/offsets?topic=sales&partition=0&range=7d&points=240"))).toBe(true);
    const ranges = screen.getByRole("radiogroup", { name: "Time range of throughput of partition 0" });
    fireEvent.click(within(ranges).getByLabelText("30d"));
    await waitFor(() => expect(router.state.location.search).toEqual({ partition: 0, range: "30d" }));
    await waitFor(() =>
      expect(urls().some((url) => url.includes("/offsets?topic=sales&partition=0&range=30d"))).toBe(true),
    );
  });

  it("says when there is none of that number, and takes no other for it", async () => {
    await open(parts(ok(held(ALL))), "?partition=77");
    expect(await screen.findByText("This topic has no partition 77.")).toBeTruthy();
    cleanup();
    const { router } = await open(parts(ok(held(ALL))), "?partition=-1");
    expect(router.state.location.search).toEqual({});
  });

  it("says why its replicas are not known, and how old they are", async () => {
    await open(parts(unavailable("The cluster did not answer in time.")), "?partition=0");
    expect(await screen.findByText("Its replicas are not known")).toBeTruthy();
    cleanup();
    await open(parts(stale(held(ALL), "The cluster did not answer in time.")), "?partition=0");
    expect(await screen.findByText(/As it was/)).toBeTruthy();
  });
});
