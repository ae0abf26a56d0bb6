import { fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fill, openPage, press, rowsOf } from "@/testing/app";
import { describePageStates } from "@/testing/page-states";
import { operation } from "@/testing/samples";
import { type Asked, ok } from "@/testing/server";

const URL = "GET /console/api/pages/operations";
const last = ok({ next: null, has_more: false });
const answer = (rows: ReturnType<typeof operation>[], page: object = last) => ({
  parts: { operations: ok(rows), page },
});
const open = (rows: ReturnType<typeof operation>[], search = "") =>
  openPage(`/operations${search}`, { [URL]: answer(rows) });
const askedFor = (asked: Asked) => new URLSearchParams(asked.url.split("?")[1]);
const names = async () => (await rowsOf("Operations")).map((row) => row[1]);

describePageStates({
  path: "/operations",
  page: "operations",
  title: "Operations",
  parts: { operations: ok([operation({ actor: "key:shown" })]), page: last },
  part: "operations",
  shows: "API key shown",
  refusable: false,
});

describe("operations", () => {
  it("show what was done, by whom, how it went and how long it took; the newest first", async () => {
    await open([
      operation({
        id: "op_2",
        kind: "offset.reset",
        resource: "group/readers",
        state: "running",
        created_at: "2026-11-21T11:00:00Z",
        finished_at: null,
      }),
      operation({ finished_at: "2026-11-21T10:01:30Z" }),
    ]);
    expect((await rowsOf("Operations")).map((row) => row.slice(0, 5))).toEqual([
      ["Reset offsetsreaders", "readers", "Running", "ada", "–"],
      ["Create topicsales", "sales", "Verified", "ada", "1m 30s"],
    ]);
    expect(screen.getByRole("progressbar", { name: "Progress" })).toBeTruthy();
  });

  it("are found by state and by text on the server, which the address keeps", async () => {
    const rows = [
      operation({ resource: "topic/a" }),
      operation({ id: "op_2", resource: "topic/b", state: "failed" }),
      operation({ id: "op_3", resource: "topic/c", state: "running" }),
    ];
    const { router } = await openPage("/operations?cursor=older", {
      [URL]: (asked: Asked) => {
        const by = askedFor(asked);
        if (by.get("q")) return answer([]);
        const state = by.get("state") === "active" ? "running" : by.get("state");
        return answer(rows.filter((row) => state === null || row.state === state));
      },
    });
    await names();
    fireEvent.click(screen.getByRole("radio", { name: "Failed" }));
    await waitFor(async () => expect(await names()).toEqual(["b"]));
    fireEvent.click(screen.getByRole("radio", { name: "Running" }));
    await waitFor(async () => expect(await names()).toEqual(["c"]));
    expect(router.state.location.search).toEqual({ state: "active" });
    fill("Search operations", "nothing");
    expect(await screen.findByText("No operation matches")).toBeTruthy();
  });

  it("are searched for by what their kinds are called here, too", async () => {
    const { asked } = await open([operation()], "?q=reset%20off");
    await names();
    const by = askedFor(asked.find((one) => one.url.includes("pages/operations")) as Asked);
    expect([by.get("q"), by.get("kinds")]).toEqual(["reset off", "offset.reset"]);
  });

  it("go on to older ones and back, which the address keeps", async () => {
    const { router } = await openPage("/operations", {
      [URL]: (asked: Asked) =>
        askedFor(asked).get("cursor") === "behind"
          ? answer([operation({ id: "op_1", resource: "topic/old" })])
          : answer([operation({ id: "op_2", resource: "topic/new" })], ok({ next: "behind", has_more: true })),
    });
    await waitFor(async () => expect(await names()).toEqual(["new"]));
    expect(screen.queryByRole("button", { name: "Newest" })).toBeNull();
    press("Older");
    await waitFor(async () => expect(await names()).toEqual(["old"]));
    expect(router.state.location.search).toEqual({ cursor: "behind" });
    expect(screen.queryByRole("button", { name: "Older" })).toBeNull();
    press("Newest");
    await waitFor(async () => expect(await names()).toEqual(["new"]));
  });

  it("cannot be put in another order: what is shown is a part", async () => {
    await open([operation()]);
    await names();
    expect(screen.queryByRole("button", { name: "Operation" })).toBeNull();
  });

  it("are none yet in a new tenant", async () => {
    await open([]);
    expect(await screen.findByText("No operations yet")).toBeTruthy();
  });
});
