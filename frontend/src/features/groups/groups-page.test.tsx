import { fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, press, rowsOf } from "@/testing/app";
import { describePageStates } from "@/testing/page-states";
import { diagnosis, groupCounts, groupRow, lagPoint } from "@/testing/samples-groups";
import { ok } from "@/testing/server";

const PATH = "/clusters/c1/groups";
const gold = (...data: ReturnType<typeof lagPoint>[]) =>
  ok({ as_of: data.length > 0 ? "2026-11-21T10:00:00Z" : null, run_id: null, data });
const open = (rows: ReturnType<typeof groupRow>[], lag = gold(), search = "") =>
  openPage(PATH + search, {
    "GET /console/api/pages/groups/c1": {
      parts: { groups: ok(rows), counts: ok(groupCounts({ matched: rows.length, total: rows.length })), lag },
    },
  });

describePageStates({
  path: PATH,
  page: "groups/c1",
  title: "Consumer groups",
  parts: { groups: ok([groupRow()]), counts: ok(groupCounts()), lag: gold() },
  part: "groups",
  shows: "readers",
});

describe("consumer groups", () => {
  it("show what the brokers say and why each is where it is, in the server's order", async () => {
    const points = [
      lagPoint(),
      lagPoint({ group: "late", lag_seconds: null, lag_seconds_at_least: 120, status: "STALLED" }),
      lagPoint({ group: "new", lag_seconds: null, status: "UNKNOWN" }),
    ];
    const fine = { severity: "ok", status: "CAUGHT_UP", risk: "SAFE", text: "Is caught up." } as const;
    const none = { severity: "unknown", status: null, risk: null, text: "Not known." } as const;
    await open(
      [
        groupRow({
          group: "late",
          lag: 900,
          diagnosis: diagnosis({ severity: "danger", status: "STALLED", text: "Stands still." }),
        }),
        groupRow({
          group: "lost",
          lag: 1,
          diagnosis: diagnosis({ severity: "danger", status: "LAGGING", risk: "LOSING", text: "Is losing." }),
        }),
        groupRow({ diagnosis: diagnosis({ text: "Too slow." }) }),
        groupRow({
          group: "new",
          lag: null,
          uncommitted_partitions: 2,
          uncommitted_records: 15_000,
          unread_at_most: 15_000,
          coordinator: null,
          state: "Empty",
          members: 0,
          diagnosis: diagnosis(none),
        }),
        groupRow({ group: "other", lag: 3, diagnosis: diagnosis(fine) }),
      ],
      gold(...points),
    );
    expect(await rowsOf("Consumer groups")).toEqual([
      ["lateStands still.", "Stable", "Stalled", "–", "2", "900", "≥ 2m", "broker 1"],
      ["lostIs losing.", "Stable", "Losing data", "–", "2", "1", "–", "broker 1"],
      ["readersToo slow.", "Stable", "Falling behind", "–", "2", "40", "12s", "broker 1"],
      ["new", "Empty", "Unknown", "–", "0", "–+ up to 15,000 in 2 partitions without a commit", "–", "–"],
      ["other", "Stable", "Caught up", "–", "2", "3", "–", "broker 1"],
    ]);
    const sub = screen.getByText(/5 groups\. Lag is the brokers'; status and time lag are measured/);
    expect(sub.textContent).toMatch(/measured, as of /);
  });

  it("are searched, narrowed, sorted and paged by the server, as the address says", async () => {
    const { router, asked } = await open([groupRow()]);
    const last = () =>
      asked
        .map(({ url }) => url)
        .filter((url) => url.startsWith("/console/api/pages/groups"))
        .at(-1);
    await rowsOf("Consumer groups");
    expect(last()).toBe("/console/api/pages/groups/c1");
    fireEvent.click(screen.getByLabelText("Only with lag"));
    await waitFor(() => expect(last()).toBe("/console/api/pages/groups/c1?lagging=true"));
    expect(router.state.location.search).toEqual({ state: "lagging" });
    fireEvent.click(screen.getByLabelText("Only in trouble"));
    await waitFor(() => expect(last()).toBe("/console/api/pages/groups/c1?trouble=true"));
    fireEvent.change(screen.getByLabelText("Search groups"), { target: { value: "zzz" } });
    await waitFor(() => expect(last()).toBe("/console/api/pages/groups/c1?q=zzz&trouble=true"));
    press("Behind by");
    await waitFor(() => expect(last()).toMatch(/\?q=zzz&sort=-?seconds&trouble=true$/));
  });

  it("that match a search are none", async () => {
    await open([], gold(), "?q=zzz");
    expect(await screen.findByText("No group matches")).toBeTruthy();
  });

  it("appear by themselves: without one the page says how", async () => {
    await open([]);
    expect(await screen.findByText("No consumer groups yet")).toBeTruthy();
    expect(screen.getByText(/0 groups\..* and appear after the first samples\./)).toBeTruthy();
  });
});
