import { fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { hintedBy, openPage, press, rowsOf } from "@/testing/app";
import { describePageStates } from "@/testing/page-states";
import { session, topicCounts, topicRow } from "@/testing/samples";
import { difference } from "@/testing/samples-drift";
import { type Asked, ok, Refusal, stale } from "@/testing/server";

const PATH = "/clusters/c1/topics";
const URL = "GET /console/api/pages/topics/c1";
const answer = (rows: ReturnType<typeof topicRow>[], counts: Parameters<typeof topicCounts>[0] = {}) => ({
  parts: {
    topics: ok(rows),
    counts: ok(topicCounts({ matched: rows.length, total: rows.length, ...counts })),
  },
});
const open = (rows: ReturnType<typeof topicRow>[], search = "", more = {}, counts = {}) =>
  openPage(PATH + search, { [URL]: answer(rows, counts), ...more });
/** What the list was asked for, each question once. */
const questions = (asked: Asked[]) => [
  ...new Set(
    asked.filter(({ url }) => url.startsWith("/console/api/pages/topics")).map(({ url }) => url.split("?")[1]),
  ),
];

describePageStates({
  path: PATH,
  page: "topics/c1",
  title: "Topics",
  parts: { topics: ok([topicRow()]), counts: ok(topicCounts()) },
  part: "topics",
  shows: "sales",
});

describe("topics", () => {
  it("shows size, records and age limit of each, in the server's order", async () => {
    await open(
      [
        topicRow({ name: "alpha", records: 1_234_567, retention_ms: -1 }),
        topicRow({ name: "down", offline: 1, retention_ms: null, cleanup_policy: null }),
        topicRow({ name: "mid", under_replicated: 2, size_bytes: null }),
        topicRow({ name: "Zebra", cleanup_policy: "compact", retention_ms: null }),
      ],
      "",
      {},
      { partitions: 24 },
    );
    expect(await rowsOf("Topics")).toEqual([
      ["alpha", "In sync", "6", "3", "–", "1.23M", "2 KiB", "for ever"],
      ["down", "1 offline", "6", "3", "–", "1,000", "2 KiB", "–"],
      ["mid", "2 behind", "6", "3", "–", "1,000", "–", "1h"],
      ["Zebra", "In sync", "6", "3", "–", "1,000", "2 KiB", "compacted"],
    ]);
    expect(screen.getByText("4 topics, 24 partitions")).toBeTruthy();
  });

  it("says in its own words how one differs that was changed outside", async () => {
    const drift = [
      {
        ...difference({ text: "of the service", text_code: "topic" }),
        params: { field: "retention.ms", observed: "7", desired: null },
        operation_id: "op_1",
      },
    ];
    await open([topicRow({ drift })]);
    await rowsOf("Topics");
    fireEvent.pointerEnter(hintedBy("Changed outside"));
    expect(
      await screen.findByText("retention.ms is 7 at the brokers; the last verified operation set nothing."),
    ).toBeTruthy();
  });

  it("asks the server for what the address says, and for nothing that it has not", async () => {
    const { asked } = await open([topicRow()], "?q=ORDERS&state=trouble&internal=true&sort=-size&page=3");
    await rowsOf("Topics");
    expect(questions(asked)).toEqual(["q=ORDERS&sort=-size&page=3&internal=true&trouble=true"]);
  });

  it("asks for no order that there is none of", async () => {
    const { asked } = await open([topicRow()], "?sort=-secret&state=nonsense");
    await rowsOf("Topics");
    expect(questions(asked)).toEqual([undefined]);
  });

  it("asks for internal topics when they are wanted, which the address keeps", async () => {
    const { router, asked } = await open([topicRow()]);
    await rowsOf("Topics");
    fireEvent.click(screen.getByLabelText("Internal topics"));
    await waitFor(() => expect(questions(asked)).toEqual([undefined, "internal=true"]));
    expect(router.state.location.search).toEqual({ internal: true });
  });

  it("has the server sort and page, and keeps the rows while it does", async () => {
    const { asked } = await open([topicRow()], "?page=2", {}, { page: 2, matched: 120, total: 10_000 });
    await rowsOf("Topics");
    expect(screen.getByText("51–100 of 120")).toBeTruthy();
    press("Size");
    expect(await rowsOf("Topics")).toHaveLength(1);
    await waitFor(() => expect(questions(asked)).toEqual(["page=2", "sort=-size"]));
  });

  it("says which page it is when the address names one that is too far", async () => {
    await open([topicRow()], "?page=99", {}, { page: 3, matched: 101, total: 101 });
    await rowsOf("Topics");
    expect(screen.getByText("101–101 of 101")).toBeTruthy();
  });

  it("says what to do when there is none, and what when none matches", async () => {
    await open([]);
    expect(await screen.findByText("No topics yet")).toBeTruthy();
    expect(screen.getAllByRole("link", { name: "New topic" })[0]?.getAttribute("href")).toBe("/clusters/c1/new-topic");
  });

  it("says so when none matches", async () => {
    await open([], "?q=nothing", {}, { total: 9 });
    expect(await screen.findByText("No topic matches")).toBeTruthy();
  });

  it("shows rows also while nobody can say how many there are", async () => {
    const counts = { status: "unavailable", as_of: null, reason: "Later.", data: null };
    await openPage(PATH, { [URL]: { parts: { topics: stale([topicRow()], "Away."), counts } } });
    expect((await rowsOf("Topics")).map(([name]) => name)).toEqual(["sales"]);
  });

  it("keeps what is searched for as a file, all pages of it", async () => {
    vi.stubGlobal(
      "URL",
      Object.assign(globalThis.URL, { createObjectURL: () => "blob:x", revokeObjectURL: () => undefined }),
    );
    const { asked } = await open([topicRow()], "?q=ord&sort=-size&page=2", {
      "GET /console/api/exports/topics/c1": "name",
    });
    await rowsOf("Topics");
    press("CSV");
    await waitFor(() =>
      expect(asked.map(({ url }) => url)).toContain("/console/api/exports/topics/c1?q=ord&sort=-size"),
    );
    expect(await screen.findByText(/The file holds the first 100,000 rows, not all/)).toBeTruthy();
  });

  it("says why there is no file", async () => {
    await open([topicRow()], "", {
      "GET /console/api/exports/topics/c1": new Refusal(429, "Too many", "Try again in 9 s."),
    });
    await rowsOf("Topics");
    press("CSV");
    expect(await screen.findByText("Try again in 9 s.")).toBeTruthy();
  });

  it("has favourites first until somebody chooses an order, or alone", async () => {
    let data = [{ kind: "topic", cluster_id: "c1", name: "sales" }];
    const { asked } = await open([topicRow(), topicRow({ name: "other" })], "", {
      "GET /console/api/favourites": () => ({ data }),
      "POST /console/api/favourites": ({ body }: Asked) => {
        const { kind, cluster_id, name } = body as (typeof data)[number];
        data = [...data, { kind, cluster_id, name }];
        return { data };
      },
    });
    await rowsOf("Topics");
    await waitFor(() => expect(questions(asked)).toEqual([undefined, "favourites=first"]));
    const star = screen.getByRole("button", { name: "Favourite: other" });
    expect(star.getAttribute("aria-pressed")).toBe("false");
    fireEvent.click(star);
    await waitFor(() => expect(star.getAttribute("aria-pressed")).toBe("true"));
    expect(asked.find(({ method }) => method === "POST")?.body).toEqual({
      kind: "topic",
      cluster_id: "c1",
      name: "other",
      is_favourite: true,
    });
    fireEvent.click(screen.getByLabelText("Only favourites"));
    await waitFor(() => expect(questions(asked).at(-1)).toBe("favourites=only"));
    press("Size");
    await waitFor(() => expect(questions(asked).at(-1)).toBe("sort=-size&favourites=only"));
  });

  it("takes a mark back that the server refuses, and says why", async () => {
    await open([topicRow()], "", {
      "POST /console/api/favourites": new Refusal(409, "Too many", "There are 200 favourites already."),
    });
    const star = await screen.findByRole("button", { name: "Favourite: sales" });
    fireEvent.click(star);
    expect(await screen.findByText("There are 200 favourites already.")).toBeTruthy();
    await waitFor(() => expect(star.getAttribute("aria-pressed")).toBe("false"));
  });

  it("offers a viewer no new topic", async () => {
    await open([topicRow()], "", { "GET /console/api/session": session({ can_write: false }) });
    await rowsOf("Topics");
    expect(screen.queryByRole("link", { name: "New topic" })).toBeNull();
  });
});
