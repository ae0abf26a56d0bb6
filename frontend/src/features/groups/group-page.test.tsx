import { cleanup, fireEvent, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { figure, openPage, press, rowsOf } from "@/testing/app";
import { describePageStates } from "@/testing/page-states";
import { collector, expiry, plan, retention, session } from "@/testing/samples";
import { diagnosis, group, groupOffset, lagPoint } from "@/testing/samples-groups";
import { type Answers, ok, Refusal } from "@/testing/server";

const PATH = "/clusters/c1/groups/readers";
const AT = "2026-11-21T10:00:00Z";
const lag = (...data: ReturnType<typeof lagPoint>[]) => ({ as_of: AT, run_id: "run_1", data });
const parts = (found = group(), held = [retention()]) => ({
  group: ok(found),
  lag: ok(lag(lagPoint())),
  retention: ok({ as_of: AT, run_id: "run_1", data: held }),
  collector: ok(collector()),
});
const pace = (...data: object[]) => ({ as_of: AT, stale_after: null, run_id: "run_1", data });
const pacePoint = {
  ts: AT,
  topic: "sales",
  lag_records: 40,
  produce_records_per_s: 42,
  consume_records_per_s: 14,
  oldest_unread_expires_in_s: 7200,
};
const HISTORY = {
  "GET /api/v1/clusters/c1/analytics/lag": lag(lagPoint()),
  "GET /api/v1/clusters/c1/analytics/pace/readers": pace(pacePoint),
};
const open = (answer = parts(), search = "", more: Answers = {}) =>
  openPage(PATH + search, { "GET /console/api/pages/group/c1/readers": { parts: answer }, ...HISTORY, ...more });
const member = { member_id: "m-1", client_id: "app-1", host: "10.0.0.7" };

describePageStates({
  path: PATH,
  page: "group/c1/readers",
  title: "readers",
  parts: parts(),
  part: "group",
  shows: "Consumes 14/s of 42/s produced on sales, all partitions alike, 1 member for 6 partitions.",
  more: HISTORY,
});

describe("one group", () => {
  it("shows its place in every partition", async () => {
    const uncommitted = { committed: null, lag: null, unread_at_least: 0, unread_at_most: 100 };
    await open(
      parts(
        group({
          offsets: [groupOffset(), groupOffset({ partition: 1, ...uncommitted })],
          uncommitted_partitions: 1,
          uncommitted_records: 100,
        }),
      ),
    );
    expect(await rowsOf("Offsets")).toEqual([
      ["sales-0", "60", "100", "40", "–", "–", "–", "not known", "–"],
      ["sales-1", "none", "100", "0 to 100", "–", "–", "–", "not known", "–"],
    ]);
    expect(figure("Lag")).toBe("40+ up to 100 in 1 partition without a commit");
  });

  it("shows who has a partition, how fast it is read and when that is done", async () => {
    const owner = { member_id: "m-1", client_id: "app-1", host: "/10.0.0.7" };
    const paced = { owner, produce_records_per_s: 14.2, consume_records_per_s: 20, sampled_at: AT };
    await open(
      parts(
        group({
          members: [{ ...member, partitions: [] }],
          offsets: [
            groupOffset({ ...paced, lag_s: 12, eta_s: 90 }),
            groupOffset({ ...paced, partition: 1, consume_records_per_s: 0, lag_s_at_least: 3600, stuck_s: 600 }),
            groupOffset({ ...paced, partition: 2, lag: 0, owner: null }),
          ],
        }),
      ),
    );
    expect(await rowsOf("Offsets")).toEqual([
      ["sales-0", "app-1 10.0.0.7", "60", "100", "40", "12s", "14/s", "20/s", "not known", "1m 30s"],
      ["sales-1", "app-1 10.0.0.7", "60", "100", "40", "≥ 1h", "14/s", "0/s", "not known", "not at this pace"],
      ["sales-2", "nobody", "60", "100", "0", "–", "14/s", "20/s", "not known", "caught up"],
    ]);
    expect(screen.getByTitle(/^at least 3,600 s; The committed offset has stood still for 10m\.$/).textContent).toBe(
      "≥ 1h",
    );
  });

  it("says why it is where it is, what to do and what is not known, and calls old numbers old", async () => {
    const unknown = ["When its unread records expire is not known."];
    await open(parts(group({ diagnosis: diagnosis({ severity: "danger", unknown, is_stale: true }) })));
    const said = (await screen.findByText(/^Consumes 14\/s of 42\/s produced/)).closest(".ps-notice");
    expect(said?.getAttribute("data-tone")).toBe("bad");
    expect(said?.textContent).toContain("Add members: up to 6 can share the 6 partitions.");
    expect(said?.textContent).toContain("When its unread records expire is not known.");
    expect(said?.textContent).toContain("stale: as of");
  });

  it("says that nothing was measured yet, and shows a member's name as text", async () => {
    const text = "Member <img src=x onerror=alert(1)> commits nothing.";
    await open(parts(group({ diagnosis: diagnosis({ as_of: null, text }) })));
    expect(await screen.findByText(text)).toBeTruthy();
    expect(screen.getByText("From what the brokers say; nothing was measured yet.")).toBeTruthy();
    expect(document.querySelector("img")).toBeNull();
  });

  it("draws its lag in records and in time", async () => {
    await open();
    expect((await screen.findByRole("img", { name: "Lag of group readers over time" })).textContent).toBe("sales: 40");
    expect((await screen.findByRole("img", { name: "Time lag of group readers over time" })).textContent).toBe(
      "sales: 12",
    );
  });

  it("draws produced against consumed with the time that retention leaves, and joins no gap", async () => {
    const at = (minute: number) => ({ ...pacePoint, ts: `2026-11-21T10:${String(minute).padStart(2, "0")}:00Z` });
    const points = [at(0), at(1), at(2), { ...at(9), consume_records_per_s: null, oldest_unread_expires_in_s: 3600 }];
    await open(parts(), "", { "GET /api/v1/clusters/c1/analytics/pace/readers": pace(...points) });
    const chart = await screen.findByRole("img", { name: "Produced against consumed on sales over time" });
    expect([...chart.children].map((line) => line.textContent)).toEqual([
      "Produced: 42 42 42 gap 42",
      "Consumed: 14 14 14 gap gap",
      "First unread record expires in: 7200 7200 7200 gap 3600",
    ]);
  });

  it("draws the topic in trouble first, and says where no pace is known or it cannot be read", async () => {
    const PACE = "GET /api/v1/clusters/c1/analytics/pace/readers";
    const other = { ...pacePoint, topic: "a" };
    await open(parts(), "", { [PACE]: pace(other, pacePoint) });
    expect(await screen.findByRole("img", { name: "Produced against consumed on sales over time" })).toBeTruthy();
    expect(screen.getByRole("combobox", { name: "Topic of the chart" })).toBeTruthy();
    cleanup();
    await open(parts(), "", { [PACE]: pace() });
    expect(await screen.findByText("No pace in this range yet")).toBeTruthy();
    cleanup();
    await open(parts(), "", { [PACE]: new Refusal(503, "The database is away") });
    expect(await screen.findByText("The database is away")).toBeTruthy();
  });

  it("says so where there is no history yet", async () => {
    await open(parts(), "", { "GET /api/v1/clusters/c1/analytics/lag": lag() });
    expect(await screen.findByText("No history in this range yet")).toBeTruthy();
  });

  it("says when its unread records expire, and that nothing is known yet", async () => {
    await open(
      parts(group(), [
        retention({ groups: [expiry({ lost_records: 7, status: "AT_RISK" })] }),
        retention({
          topic: "kept",
          retention_ms: -1,
          groups: [expiry({ oldest_unread_expires_in_s: null, status: "UNKNOWN" })],
        }),
      ]),
    );
    expect(await rowsOf("Expiry of unread records")).toEqual([
      ["sales", "At risk", "1h", "in 2h", "in 30m", "7"],
      ["kept", "Unknown", "for ever", "–", "nothing unread", "none"],
    ]);
  });

  it("shows its members with what each reads", async () => {
    const partitions = [2, 0, 10].map((number) => ({ topic: "sales", partition: number }));
    await open(
      parts(
        group({
          members: [
            { ...member, partitions },
            { ...member, member_id: "m-2", client_id: "app-2", host: "/10.0.0.8", partitions: [] },
          ],
        }),
      ),
      "?tab=members",
    );
    expect(await rowsOf("Members")).toEqual([
      ["app-1m-1", "10.0.0.7", "3", "sales 0, 2, 10"],
      ["app-2m-2", "10.0.0.8", "0", "nothing: idle"],
    ]);
    expect(screen.getByRole("tab", { name: "Members (2)" })).toBeTruthy();
  });

  it("has empty tables that say why", async () => {
    await open(parts(group({ offsets: [] }), []));
    expect(await screen.findByText("No committed offsets")).toBeTruthy();
    expect(screen.getByText("Nothing known yet")).toBeTruthy();
    fireEvent.click(screen.getByRole("tab", { name: "Members" }));
    expect(await screen.findByText("No members right now")).toBeTruthy();
  });

  it("can be deleted by a plan", async () => {
    const { asked } = await open(parts(), "", {
      "POST /api/v1/plans": plan({
        kind: "group.delete",
        confirm_phrase: "readers",
        diff: {
          before: { state: "Empty", members: 0, lag: 40 },
          after: {},
          offsets: [
            { topic: "sales", partition: 0, committed: 60, log_start: 0, log_end: 100, lag: 40, restorable: true },
          ],
        },
      } as never),
    });
    await rowsOf("Offsets");
    press("More");
    fireEvent.click(await screen.findByRole("menuitem", { name: "Delete group" }));
    expect(await rowsOf("Offsets that are forgotten")).toEqual([["sales-0", "60", "40", "commits it again"]]);
    expect(asked.find((one) => one.method === "POST")?.body).toEqual({
      kind: "group.delete",
      cluster_id: "c1",
      inputs: { group: "readers" },
    });
  });

  it("offers an objective only to those who may write what is of the whole tenant", async () => {
    const analyses = {
      data: [],
      as_of: null,
      complete: true,
      formula_version: 1,
    };
    const more = {
      "GET /api/v1/clusters/c1/analytics/lag-objectives": analyses,
      "GET /api/v1/clusters/c1/analytics/rollups/groups": analyses,
      "GET /api/v1/clusters/c1/analytics/chart": { ts_ms: [], series: [] },
    };
    await open(parts(), "?tab=analyses", more);
    expect(await screen.findByRole("button", { name: "Set an objective" })).toBeTruthy();
    cleanup();
    const someClusters = { "GET /console/api/session": session({ can_write_tenant: false }) };
    await open(parts(), "?tab=analyses", { ...more, ...someClusters });
    expect(await screen.findByText("It needs windows in which the group's time lag is known.")).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Set an objective" })).toBeNull();
  });

  it("offers a viewer no change", async () => {
    await open(parts(), "", { "GET /console/api/session": session({ can_write: false }) });
    await rowsOf("Offsets");
    expect(screen.queryByRole("link", { name: "Reset offsets" })).toBeNull();
  });
});
