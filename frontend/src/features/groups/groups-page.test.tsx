import { fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, rowsOf } from "@/testing/app";
import { describePageStates } from "@/testing/page-states";
import { groupRow, lagPoint } from "@/testing/samples";
import { ok } from "@/testing/server";

const PATH = "/clusters/c1/groups";
const gold = (...data: ReturnType<typeof lagPoint>[]) =>
  ok({ as_of: data.length > 0 ? "2026-11-21T10:00:00Z" : null, run_id: null, data });
const open = (rows: ReturnType<typeof groupRow>[], lag = gold(), search = "") =>
  openPage(PATH + search, { "GET /console/api/pages/groups/c1": { parts: { groups: ok(rows), lag } } });

describePageStates({
  path: PATH,
  page: "groups/c1",
  title: "Consumer groups",
  parts: { groups: ok([groupRow()]), lag: gold() },
  part: "groups",
  shows: "readers",
});

describe("consumer groups", () => {
  it("show what the brokers say beside what Spark worked out, the longest lag first", async () => {
    const points = [
      lagPoint(),
      lagPoint({ group: "late", lag_seconds: null, lag_seconds_at_least: 120, status: "STALLED" }),
      lagPoint({ group: "new", lag_seconds: null, status: "UNKNOWN" }),
    ];
    await open(
      [
        groupRow(),
        groupRow({ group: "late", lag: 900 }),
        groupRow({ group: "new", lag: null, coordinator: null, state: "Empty", members: 0 }),
        groupRow({ group: "other", lag: 3 }),
      ],
      gold(...points),
    );
    expect(await rowsOf("Consumer groups")).toEqual([
      ["late", "Stable", "Stalled", "2", "900", "≥ 2m", "broker 1"],
      ["readers", "Stable", "Falling behind", "2", "40", "12s", "broker 1"],
      ["other", "Stable", "–", "2", "3", "–", "broker 1"],
      ["new", "Empty", "Unknown", "0", "–", "–", "–"],
    ]);
    const sub = screen.getByText(/4 groups\. Lag is the brokers'; trend and time lag are Spark's/);
    expect(sub.textContent).toMatch(/Spark's, as of /);
  });

  it("are found by name and by lag", async () => {
    const { router } = await open([groupRow(), groupRow({ group: "done", lag: 0 })]);
    expect(await rowsOf("Consumer groups")).toHaveLength(2);
    fireEvent.click(screen.getByLabelText("Only with lag"));
    await waitFor(async () => expect((await rowsOf("Consumer groups")).map(([name]) => name)).toEqual(["readers"]));
    expect(router.state.location.search).toEqual({ state: "lagging" });
    fireEvent.change(screen.getByLabelText("Search groups"), { target: { value: "zzz" } });
    expect(await screen.findByText("No group matches")).toBeTruthy();
  });

  it("appear by themselves: without one the page says how", async () => {
    await open([]);
    expect(await screen.findByText("No consumer groups yet")).toBeTruthy();
    expect(screen.getByText(/0 groups\..* and appear after its first run\./)).toBeTruthy();
  });
});
