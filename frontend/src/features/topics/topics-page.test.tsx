import { fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, rowsOf } from "@/testing/app";
import { describePageStates } from "@/testing/page-states";
import { session, topicRow } from "@/testing/samples";
import { ok } from "@/testing/server";

const PATH = "/clusters/c1/topics";
const URL = "GET /console/api/pages/topics/c1";
const open = (rows: ReturnType<typeof topicRow>[], search = "", more = {}) =>
  openPage(PATH + search, { [URL]: { parts: { topics: ok(rows) } }, ...more });

describePageStates({
  path: PATH,
  page: "topics/c1",
  title: "Topics",
  parts: { topics: ok([topicRow()]) },
  part: "topics",
  shows: "sales",
});

describe("topics", () => {
  it("shows size, records and age limit of each, names in order", async () => {
    await open([
      topicRow({ name: "zebra", cleanup_policy: "compact", retention_ms: null }),
      topicRow({ name: "alpha", records: 1_234_567, retention_ms: -1 }),
      topicRow({ name: "mid", under_replicated: 2, size_bytes: null }),
      topicRow({ name: "down", offline: 1, retention_ms: null, cleanup_policy: null }),
    ]);
    expect(await rowsOf("Topics")).toEqual([
      ["alpha", "In sync", "6", "3", "1.23M", "2 KiB", "for ever"],
      ["down", "1 offline", "6", "3", "1,000", "2 KiB", "–"],
      ["mid", "2 behind", "6", "3", "1,000", "–", "1h"],
      ["zebra", "In sync", "6", "3", "1,000", "2 KiB", "compacted"],
    ]);
    expect(screen.getByText("4 topics, 24 partitions")).toBeTruthy();
  });

  it("hides internal topics until they are asked for, which the address keeps", async () => {
    const { router } = await open([topicRow(), topicRow({ name: "__consumer_offsets", internal: true })]);
    expect((await rowsOf("Topics")).map(([name]) => name)).toEqual(["sales"]);
    fireEvent.click(screen.getByLabelText("Internal topics"));
    await waitFor(async () =>
      expect((await rowsOf("Topics")).map(([name]) => name)).toEqual(["__consumer_offsetsinternal", "sales"]),
    );
    expect(router.state.location.search).toEqual({ internal: true });
  });

  it("finds by name, and only those in trouble", async () => {
    const rows = [
      topicRow({ name: "orders.eu" }),
      topicRow({ name: "orders.us", offline: 1 }),
      topicRow({ name: "other", offline: 1 }),
    ];
    await open(rows, "?q=ORDERS&state=trouble");
    expect((await rowsOf("Topics")).map(([name]) => name)).toEqual(["orders.us"]);
  });

  it("says what to do when there is none, and what when none matches", async () => {
    await open([]);
    expect(await screen.findByText("No topics yet")).toBeTruthy();
    expect(screen.getAllByRole("link", { name: "New topic" })[0]?.getAttribute("href")).toBe("/clusters/c1/new-topic");
  });

  it("says so when none matches", async () => {
    await open([topicRow()], "?q=nothing");
    expect(await screen.findByText("No topic matches")).toBeTruthy();
  });

  it("offers a viewer no new topic", async () => {
    await open([topicRow()], "", { "GET /console/api/session": session({ can_write: false }) });
    await rowsOf("Topics");
    expect(screen.queryByRole("link", { name: "New topic" })).toBeNull();
  });
});
