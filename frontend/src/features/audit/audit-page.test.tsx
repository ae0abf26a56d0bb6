import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { openPage, press, rowsOf } from "@/testing/app";
import { event } from "@/testing/samples";
import { type Asked, PENDING, Refusal } from "@/testing/server";

const URL_OF_LIST = "GET /api/v1/audit-events";
const page = (rows: ReturnType<typeof event>[], next: string | null = null) => ({
  data: rows,
  page: { next, has_more: next !== null },
});
const open = (answer: unknown, search = "", more = {}) =>
  openPage(`/audit${search}`, { [URL_OF_LIST]: answer, ...more });
/** What the list was last asked for. */
const lastQuery = (asked: Asked[]) => {
  const url = asked.filter((one) => one.url.startsWith("/api/v1/audit-events?")).at(-1)?.url ?? "";
  return Object.fromEntries(new URLSearchParams(url.split("?")[1]));
};

const field = (label: string): HTMLInputElement => screen.getByLabelText(label, { selector: "input" });

describe("the audit log", () => {
  it("says who did what, in words", async () => {
    await open(
      page([
        event(),
        event({ id: "2", actor: "key:ci", action: "offset.reset.start", outcome: "ok" }),
        event({ id: "3", action: "session.login_failed", outcome: "refused" }),
        event({ id: "4", action: "api-key.create" }),
        event({ id: "5", action: "refused.403", outcome: "refused" }),
        event({ id: "6", action: "something.new" }),
      ]),
    );
    expect((await rowsOf("Audit events")).map((row) => row.slice(1, 3))).toEqual([
      ["ada", "Create topic: succeeded"],
      ["API key ci", "Reset offsets: started"],
      ["ada", "Sign-in refused"],
      ["ada", "Made an API key"],
      ["ada", "Was refused (403)"],
      ["ada", "something.new"],
    ]);
  });

  it("shows what changed, before and after, and what else was recorded", async () => {
    const data = { before: { partitions: 3, name: "sales" }, after: { partitions: 6, name: "sales" }, verified: true };
    await open(page([event({ reason: "because", data: { ...data, operation_id: "op_1" } })]));
    await rowsOf("Audit events");
    press("More");
    expect(screen.getByText("because")).toBeTruthy();
    expect(await rowsOf("Changes")).toEqual([["Partitions", "3", "6"]]);
    expect(screen.getByText("1 unchanged")).toBeTruthy();
    expect(screen.getByLabelText("Also recorded").textContent).toBe('{\n  "verified": true\n}');
    expect(screen.getByRole("link", { name: "op_1" }).getAttribute("href")).toBe("/operations/op_1");
    press("Less");
    expect(screen.queryByText("because")).toBeNull();
  });

  it("shows what is gone as what was there before", async () => {
    await open(page([event({ action: "api-key.revoke", data: { before: { name: "ci" }, after: null } })]));
    await rowsOf("Audit events");
    press("More");
    expect(screen.getByRole("columnheader", { name: "Before" })).toBeTruthy();
    expect(await rowsOf("Changes")).toEqual([["Name", "ci"]]);
  });

  it("loads older events on request", async () => {
    const { asked } = await open(({ url }: Asked) =>
      url.includes("cursor=") ? page([event({ id: "old", actor: "user:grace" })]) : page([event()], "c 2"),
    );
    expect(await rowsOf("Audit events")).toHaveLength(1);
    expect(screen.getByText("1 event so far")).toBeTruthy();
    press("Load older");
    await waitFor(async () => expect(await rowsOf("Audit events")).toHaveLength(2));
    expect(lastQuery(asked)).toEqual({ page_size: "100", cursor: "c 2" });
    expect(screen.queryByRole("button", { name: "Load older" })).toBeNull();
    expect(screen.getByText("2 events")).toBeTruthy();
  });
});

describe("the search of the audit", () => {
  it("asks the server for what the address says", async () => {
    const search =
      "?actor=user%3Aada&action=topic.&resource=topic%2Fa&outcome=refused&cluster=c1" +
      "&from=2026-11-01T00%3A00%3A00Z&to=2026-11-02T00%3A00%3A00Z";
    const { asked } = await open(page([event()]), search);
    await rowsOf("Audit events");
    expect(lastQuery(asked)).toEqual({
      actor: "user:ada",
      action: "topic.",
      resource: "topic/a",
      outcome: "refused",
      cluster_id: "c1",
      from: "2026-11-01T00:00:00Z",
      to: "2026-11-02T00:00:00Z",
      page_size: "100",
    });
    expect(field("Who begins with").value).toBe("user:ada");
    expect(field("From").value).toMatch(/^2026-1[01]-\d\dT\d\d:\d\d$/);
  });

  it("puts what is typed and chosen into the address, and counts the last hour from now", async () => {
    const { asked, router } = await open(page([event()]));
    await rowsOf("Audit events");
    fireEvent.change(field("Resource begins with"), { target: { value: "topic/team-a-" } });
    await waitFor(() => expect(lastQuery(asked).resource).toBe("topic/team-a-"));
    fireEvent.click(field("When"));
    fireEvent.click(await screen.findByRole("option", { name: "the last hour" }));
    await waitFor(() => expect(lastQuery(asked).from).toBeTruthy());
    const ago = Date.now() - Date.parse(lastQuery(asked).from ?? "");
    expect(Math.abs(ago - 3_600_000)).toBeLessThan(20_000);
    expect(router.state.location.search).toEqual({ resource: "topic/team-a-", last: "1h" });
    fireEvent.click(screen.getByRole("button", { name: "Clear filters" }));
    await waitFor(() => expect(lastQuery(asked)).toEqual({ page_size: "100" }));
    expect(router.state.location.search).toEqual({});
    expect(field("Resource begins with").value).toBe("");
  });

  it("drops from the address what is no filter", async () => {
    const { asked } = await open(page([event()]), "?last=9y&from=yesterday&x=1");
    await rowsOf("Audit events");
    expect(lastQuery(asked)).toEqual({ page_size: "100" });
  });

  it("says that nothing was found, and lets all filters go", async () => {
    const { asked } = await open(page([]), "?outcome=failed");
    expect(await screen.findByText("Nothing found")).toBeTruthy();
    press("Clear all filters");
    expect(await screen.findByText("Nothing recorded yet")).toBeTruthy();
    expect(lastQuery(asked)).toEqual({ page_size: "100" });
  });

  it("says that older rows may be covered when none of the newest is", async () => {
    await open(page([], "c"));
    expect(await screen.findByText("Nothing among the newest rows")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Load older" })).toBeTruthy();
  });

  it("names the filter that is refused, and keeps the filters", async () => {
    const detail = "This is not a time.";
    const errors = [{ pointer: "/from", code: "invalid", detail }];
    await open(new Refusal(422, "Some fields are not valid", detail, { errors }), "?actor=user%3Aada");
    const refusal = await screen.findByRole("alert");
    // The names of fields are loaded when one is needed.
    await waitFor(() => expect(refusal.textContent).toContain(`From: ${detail}`));
    expect(field("Who begins with").value).toBe("user:ada");
  });
});

describe("the export of the audit", () => {
  const saved: string[] = [];
  const file = (isWhole: boolean) =>
    vi.fn(
      async () =>
        new Response('"id"\r\n', {
          headers: { "X-Penstock-Export-Complete": String(isWhole), "Content-Type": "text/csv" },
        }),
    );
  afterEach(() => {
    saved.length = 0;
    vi.restoreAllMocks();
  });

  async function exported(format: string, answer: () => Promise<Response>) {
    await open(page([event()]), "?outcome=refused&last=24h");
    await rowsOf("Audit events");
    const served = fetch;
    const urls: string[] = [];
    vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
      if (!url.startsWith("/api/v1/audit-events/export")) return served(url, init);
      urls.push(url);
      return answer();
    });
    URL.createObjectURL = () => "blob:made";
    URL.revokeObjectURL = () => undefined;
    vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
      saved.push(this.download);
    });
    press("Export");
    fireEvent.click(await screen.findByRole("menuitem", { name: format }));
    return urls;
  }

  it("takes the same filters and says that it has every row", async () => {
    const urls = await exported("CSV, for spreadsheets", file(true));
    expect(await screen.findByText(/holds every row/)).toBeTruthy();
    const query = Object.fromEntries(new URLSearchParams((urls[0] ?? "").split("?")[1]));
    expect(query).toMatchObject({ outcome: "refused", format: "csv" });
    expect(Math.abs(Date.now() - Date.parse(query.from ?? "") - 86_400_000)).toBeLessThan(20_000);
    expect(saved).toEqual([expect.stringMatching(/^audit-\d{4}-\d\d-\d\d\.csv$/)]);
  });

  it("says when it is cut", async () => {
    await exported("JSON lines, for programs", file(false));
    expect(await screen.findByText("The file holds the newest 100,000 rows, not all")).toBeTruthy();
    expect(saved[0]).toContain(".ndjson");
  });

  it("says why there is none", async () => {
    const problem = { title: "Too many requests", status: 429, detail: "Try again in 5 s." };
    await exported(
      "CSV, for spreadsheets",
      async () =>
        new Response(JSON.stringify(problem), { status: 429, headers: { "Content-Type": "application/problem+json" } }),
    );
    expect((await screen.findByRole("alert")).textContent).toContain("Try again in 5 s.");
    expect(saved).toEqual([]);
  });
});

describe("the audit: states of the page", () => {
  it("says so while it is empty", async () => {
    await open(page([]));
    expect(await screen.findByText("Nothing recorded yet")).toBeTruthy();
  });

  it("shows placeholders while it is awaited", async () => {
    await open(PENDING);
    expect(await screen.findByLabelText("Loading")).toBeTruthy();
  });

  it("shows why it cannot be read", async () => {
    await open(new Refusal(503, "Temporarily unavailable", "The database is busy."));
    expect((await screen.findByRole("alert")).textContent).toContain("The database is busy.");
  });

  it("keeps what it has when older rows cannot be read", async () => {
    await open(({ url }: Asked) =>
      url.includes("cursor=") ? new Refusal(503, "Away", "The database is busy.") : page([event()], "c"),
    );
    await rowsOf("Audit events");
    press("Load older");
    expect(await screen.findByText(/could not be read/)).toBeTruthy();
    expect(await rowsOf("Audit events")).toHaveLength(1);
  });

  it("says whom it is not for, and offers nothing more", async () => {
    await open(new Refusal(403, "This needs a stronger role or scope", "This needs a role that reads this."));
    const said = await screen.findByRole("alert");
    expect(within(said).getByRole("heading", { level: 1 }).textContent).toBe("This needs a stronger role or scope");
    expect(screen.queryByRole("button", { name: "Export" })).toBeNull();
  });
});
