import { screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fill, openPage, press, rowsOf } from "@/testing/app";
import { event } from "@/testing/samples";
import { type Asked, PENDING, Refusal } from "@/testing/server";

const URL = "GET /api/v1/audit-events";
const page = (rows: ReturnType<typeof event>[], next: string | null = null) => ({
  data: rows,
  page: { next, has_more: next !== null },
});
const open = (answer: unknown) => openPage("/audit", { [URL]: answer });

describe("the audit log", () => {
  it("says who did what, in words", async () => {
    await open(
      page([
        event(),
        event({ id: "2", actor: "key:ci", action: "offset.reset.start", outcome: "ok" }),
        event({ id: "3", action: "session.login_failed", outcome: "refused" }),
        event({ id: "4", action: "api-key.create" }),
        event({ id: "5", action: "api-key.revoke" }),
        event({ id: "6", action: "something.new" }),
      ]),
    );
    expect((await rowsOf("Audit events")).map((row) => row.slice(1, 3))).toEqual([
      ["ada", "Create topic: succeeded"],
      ["API key ci", "Reset offsets: started"],
      ["ada", "Sign-in refused"],
      ["ada", "Made an API key"],
      ["ada", "Revoked an API key"],
      ["ada", "something.new"],
    ]);
  });

  it("shows what was recorded when asked to", async () => {
    await open(page([event({ reason: "because", data: { operation_id: "op_1", partitions: 3 } })]));
    await rowsOf("Audit events");
    press("More");
    expect(screen.getByText("because")).toBeTruthy();
    expect(screen.getByLabelText("Recorded data").textContent).toContain('"partitions": 3');
    expect(screen.getByRole("link", { name: "op_1" }).getAttribute("href")).toBe("/operations/op_1");
    press("Less");
    expect(screen.queryByText("because")).toBeNull();
  });

  it("loads older events on request, and finds among the loaded", async () => {
    const { asked } = await open(({ url }: Asked) =>
      url.includes("cursor=") ? page([event({ id: "old", actor: "user:grace" })]) : page([event()], "c 2"),
    );
    expect(await rowsOf("Audit events")).toHaveLength(1);
    press("Load older");
    await waitFor(async () => expect(await rowsOf("Audit events")).toHaveLength(2));
    const [path, query] = (asked.at(-1)?.url ?? "").split("?");
    expect(path).toBe("/api/v1/audit-events");
    expect(Object.fromEntries(new URLSearchParams(query))).toEqual({ page_size: "100", cursor: "c 2" });
    expect(screen.queryByRole("button", { name: "Load older" })).toBeNull();
    fill("Search loaded events", "GRACE");
    await waitFor(async () => expect(await rowsOf("Audit events")).toHaveLength(1));
    fill("Search loaded events", "nobody");
    expect(await screen.findByText("No event matches")).toBeTruthy();
  });

  it("says so while it is empty", async () => {
    await open(page([]));
    expect(await screen.findByText("Nothing recorded yet")).toBeTruthy();
  });

  it("shows placeholders while it is awaited", async () => {
    await open(PENDING);
    expect(await screen.findByLabelText("Loading")).toBeTruthy();
  });

  it("shows why it cannot be read", async () => {
    await open(new Refusal(503, "A part that is needed is away", "The database is busy."));
    expect((await screen.findByRole("alert")).textContent).toContain("The database is busy.");
  });
});
