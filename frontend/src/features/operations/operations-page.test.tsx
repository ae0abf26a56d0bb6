import { fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fill, openPage, rowsOf } from "@/testing/app";
import { describePageStates } from "@/testing/page-states";
import { operation } from "@/testing/samples";
import { ok } from "@/testing/server";

const open = (rows: ReturnType<typeof operation>[], search = "") =>
  openPage(`/operations${search}`, { "GET /console/api/pages/operations": { parts: { operations: ok(rows) } } });
const names = async () => (await rowsOf("Operations")).map((row) => row[1]);

describePageStates({
  path: "/operations",
  page: "operations",
  title: "Operations",
  parts: { operations: ok([operation({ actor: "key:shown" })]) },
  part: "operations",
  shows: "API key shown",
  refusable: false,
});

describe("operations", () => {
  it("show what was done, by whom, how it went and how long it took; the newest first", async () => {
    await open([
      operation({ finished_at: "2026-11-21T10:01:30Z" }),
      operation({
        id: "op_2",
        kind: "offset.reset",
        resource: "group/readers",
        state: "running",
        created_at: "2026-11-21T11:00:00Z",
        finished_at: null,
      }),
    ]);
    expect((await rowsOf("Operations")).map((row) => row.slice(0, 5))).toEqual([
      ["Reset offsetsreaders", "readers", "Running", "ada", "–"],
      ["Create topicsales", "sales", "Verified", "ada", "1m 30s"],
    ]);
    expect(screen.getByRole("progressbar", { name: "Progress" })).toBeTruthy();
  });

  it("are found by state and by text, which the address keeps", async () => {
    const { router } = await open([
      operation({ resource: "topic/a" }),
      operation({ id: "op_2", resource: "topic/b", state: "failed" }),
      operation({ id: "op_3", resource: "topic/c", state: "running" }),
    ]);
    await names();
    fireEvent.click(screen.getByRole("radio", { name: "Failed" }));
    await waitFor(async () => expect(await names()).toEqual(["b"]));
    fireEvent.click(screen.getByRole("radio", { name: "Running" }));
    await waitFor(async () => expect(await names()).toEqual(["c"]));
    expect(router.state.location.search).toEqual({ state: "active" });
    fill("Search operations", "nothing");
    expect(await screen.findByText("No operation matches")).toBeTruthy();
  });

  it("are none yet in a new tenant", async () => {
    await open([]);
    expect(await screen.findByText("No operations yet")).toBeTruthy();
  });
});
