import { fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, press, rowsOf } from "@/testing/app";
import { partition, topic } from "@/testing/samples";
import { throughput } from "@/testing/samples-throughput";
import { type Asked, ok, PENDING, Refusal, unavailable } from "@/testing/server";

const SEGMENTS = "/api/v1/clusters/c1/topics/sales/partitions/0/segments";
const segment = (base_offset: number, more: object = {}) => ({
  base_offset,
  size_bytes: 2048,
  modified_ms: 1,
  role: "current",
  ...more,
});
const directory = { directory: "/data/sales-0", role: "current", total: 2, total_bytes: 4096, other_bytes: 100 };
const page = (data: object[], next: string | null = null, more: object = {}) => ({
  data,
  page: { next, has_more: next !== null },
  broker: 1,
  directories: [directory],
  answered_at_ms: 1,
  ...more,
});
const open = (answer: unknown, more: Parameters<typeof partition>[0] = { leader: 1, replicas: [1, 2] }) =>
  openPage("/clusters/c1/topics/sales?partition=0", {
    "GET /console/api/pages/topic/c1/sales": {
      parts: { topic: ok(topic({ partitions: [partition(more)] })), retention: unavailable("x") },
    },
    "GET /console/api/pages/replicas/c1/sales": { parts: { replicas: unavailable("x") } },
    "GET /api/v1/clusters/c1/analytics/throughput": throughput(),
    [`GET ${SEGMENTS}`]: answer,
  });
const look = async () => fireEvent.click(await screen.findByRole("button", { name: "List the segments" }));
const rows = () => rowsOf("Segments of partition 0");
const asksOf = (asked: Asked[]) =>
  asked.filter((one) => one.url.includes("/segments")).map((one) => one.url.split("?")[1]);

describe("the segments of a partition", () => {
  it("are asked for by who looks, of the leader, and are the newest first", async () => {
    const { asked } = await open(page([segment(900), segment(0, { size_bytes: 1024 })]));
    await screen.findByRole("button", { name: "List the segments" });
    expect(asksOf(asked)).toEqual([]);
    await look();
    expect((await rows()).map((row) => row.slice(0, 3))).toEqual([
      ["900", "active", "2 KiB"],
      ["0", "closed", "1 KiB"],
    ]);
    expect(asksOf(asked)).toEqual(["broker=1&page_size=100"]);
    expect(screen.getByText(/^Read on its broker's host/).textContent).toMatch(/2 segments shown\.$/);
    expect(screen.getByTitle("4,096 bytes").textContent).toBe("4 KiB");
  });

  it("are those of another replica when it is picked", async () => {
    const { asked } = await open((one: Asked) => page([segment(one.url.includes("broker=2") ? 7 : 5)]));
    await look();
    await rows();
    fireEvent.change(screen.getByLabelText("Whose replica"), { target: { value: "2" } });
    await waitFor(async () => expect((await rows())[0]?.[0]).toBe("7"));
    expect(asksOf(asked)).toEqual(["broker=1&page_size=100", "broker=2&page_size=100"]);
  });

  it("are asked of a replica while there is no leader", async () => {
    const { asked } = await open(page([segment(0)]), { leader: null, replicas: [3] });
    await look();
    await rows();
    expect(asksOf(asked)).toEqual(["broker=3&page_size=100"]);
  });

  it("go on page by page, and begin anew on request", async () => {
    const { asked } = await open((one: Asked) =>
      one.url.includes("cursor=older") ? page([segment(0)]) : page([segment(900)], "older"),
    );
    await look();
    await rows();
    press("Show older segments");
    await waitFor(async () => expect((await rows()).map((row) => row[1])).toEqual(["active", "closed"]));
    expect(screen.queryByRole("button", { name: "Show older segments" })).toBeNull();
    press("Look again");
    await waitFor(async () => expect((await rows()).map((row) => row[0])).toEqual(["900"]));
    expect(asksOf(asked).at(-1)).toBe("broker=1&page_size=100");
  });

  it("tell a copy on its way from the replica, and what the host does not know from nothing", async () => {
    const coming = { directory: "/disk2", role: "future", total: null, total_bytes: null, other_bytes: null };
    await open(page([segment(900), segment(900, { role: "future" })], null, { directories: [directory, coming] }));
    await look();
    expect((await rows()).map((row) => row[1])).toEqual(["active", "copy on its way"]);
    expect(screen.getByText("/disk2").parentElement?.textContent).toBe(
      "/disk2, copy on its way: an unknown number of segments, unknown bytes of records, unknown bytes of indexes and other files.",
    );
  });

  it("say why they are not known, and are asked for again", async () => {
    let isAway = true;
    await open(() =>
      isAway ? new Refusal(503, "Not available", "The agent of host-1 does not answer.") : page([segment(4)]),
    );
    await look();
    expect(await screen.findByText("The agent of host-1 does not answer.")).toBeTruthy();
    expect(screen.queryByText(/lists no segment/)).toBeNull();
    isAway = false;
    press("Try again");
    await waitFor(async () => expect((await rows())[0]?.[0]).toBe("4"));
  });

  it("keep what was read, with its age, when looking again fails", async () => {
    let isAway = false;
    await open(() => (isAway ? new Refusal(503, "Not available", "It does not answer.") : page([segment(4)])));
    await look();
    await rows();
    isAway = true;
    press("Look again");
    expect(await screen.findByText(/^Below it is as it was/)).toBeTruthy();
    expect((await rows()).length).toBe(1);
  });

  it("are not to be had of brokers that others run", async () => {
    await open(new Refusal(503, "Not available", "By others.", { code: "brokers-of-others" }));
    await look();
    expect(await screen.findByText("Not available: its brokers are run by others")).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Try again" })).toBeNull();
  });

  it("say that they are being read", async () => {
    await open(PENDING);
    await look();
    expect(await screen.findByLabelText("Loading")).toBeTruthy();
  });

  it("say when the host lists none", async () => {
    await open(page([]));
    await look();
    expect(await screen.findByText("The host lists no segment of this replica")).toBeTruthy();
  });
});
