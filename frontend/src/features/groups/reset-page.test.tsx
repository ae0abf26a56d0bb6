import { fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fill, openPage, press, rowsOf } from "@/testing/app";
import { describePageStates } from "@/testing/page-states";
import { collector, operation, plan } from "@/testing/samples";
import { group, groupOffset } from "@/testing/samples-groups";
import { type Answers, ok, Refusal } from "@/testing/server";

const PATH = "/clusters/c1/groups/readers/reset";
const none = ok({ as_of: null, run_id: null, data: [] });
const parts = (found = group()) => ({ group: ok(found), lag: none, retention: none, collector: ok(collector()) });
const reset = plan({
  kind: "offset.reset",
  confirm_phrase: null,
  diff: {
    partitions: [
      {
        topic: "sales",
        partition: 0,
        from: 60,
        to: 0,
        log_start: 0,
        log_end: 100,
        effect: "reread",
        records: 60,
        reason: "the beginning",
      },
      {
        topic: "sales",
        partition: 1,
        from: 5,
        to: 5,
        log_start: 0,
        log_end: 5,
        effect: "none",
        records: 0,
        reason: "",
      },
    ],
  },
} as never);
const open = (found = group(), more: Answers = {}) =>
  openPage(PATH, {
    "GET /console/api/pages/group/c1/readers": { parts: parts(found) },
    "POST /api/v1/plans": reset,
    ...more,
  });
const choose = (name: RegExp) => fireEvent.click(screen.getByRole("radio", { name }));

describePageStates({
  path: PATH,
  page: "group/c1/readers",
  title: "Reset offsets",
  parts: parts(),
  part: "group",
  shows: "Start reading from",
});

describe("resetting offsets", () => {
  it.each([
    [/The beginning/, null, { strategy: "earliest" }],
    [/The end/, null, { strategy: "latest" }],
    [/Some records back/, ["Records", "-5"], { strategy: "shift", value: -5 }],
    [/An exact offset/, ["Offset", "7"], { strategy: "offset", value: 7 }],
    [
      /A point in time/,
      [/Time/, "2026-01-02T03:04"],
      { strategy: "timestamp", value: new Date("2026-01-02T03:04").getTime() },
    ],
  ] as const)("plans %s", async (strategy, field, inputs) => {
    const { asked } = await open();
    await screen.findByText("Start reading from");
    choose(strategy);
    if (field) fill(field[0], field[1]);
    press("Review plan");
    await waitFor(() =>
      expect(asked.find((one) => one.method === "POST")?.body).toEqual({
        kind: "offset.reset",
        cluster_id: "c1",
        inputs: { group: "readers", ...inputs },
      }),
    );
  });

  it("cannot plan a time that is none", async () => {
    await open();
    await screen.findByText("Start reading from");
    choose(/A point in time/);
    fill(/Time/, "");
    expect(screen.getByText("A date and a time")).toBeTruthy();
    expect((screen.getByRole("button", { name: "Review plan" }) as HTMLButtonElement).disabled).toBe(true);
  });

  it("waits until nobody consumes, and says for how many", async () => {
    const member = { member_id: "m", client_id: "app", host: "h", partitions: [] };
    await open(group({ members: [member, { ...member, member_id: "n" }] }));
    expect(await screen.findByText("2 members of this group are active")).toBeTruthy();
    expect(screen.getByText("Waits until all 2 members have stopped.")).toBeTruthy();
    expect((screen.getByRole("button", { name: "Review plan" }) as HTMLButtonElement).disabled).toBe(true);
  });

  it("shows where the group stands by topic, or that it stands nowhere", async () => {
    await open(
      group({
        offsets: [
          groupOffset(),
          groupOffset({ partition: 1, lag: 2, unread_at_least: 2, unread_at_most: 2 }),
          groupOffset({ topic: "a", committed: null, lag: null, unread_at_least: 0, unread_at_most: 100 }),
          groupOffset({ topic: "b", log_end: null, lag: null, unread_at_least: null, unread_at_most: null }),
        ],
      }),
    );
    expect(await rowsOf("Committed offsets by topic")).toEqual([
      ["a", "100", "0 to 100"],
      ["b", "–", "–"],
      ["sales", "200", "42"],
    ]);
  });

  it("shows the effect on each partition, can go back, and ends in the verified operation", async () => {
    await open(group(), {
      "POST /api/v1/operations": operation({ kind: "offset.reset" }),
      "GET /console/api/pages/operation/op_1": {
        parts: { operation: ok(operation({ kind: "offset.reset" })), plan: ok(reset) },
      },
    });
    await screen.findByText("Start reading from");
    press("Review plan");
    expect(await rowsOf("Offsets before and after")).toEqual([
      ["sales-0", "60", "0", "60 read again", "the beginning"],
      ["sales-1", "5", "5", "no change", ""],
    ]);
    press("Back");
    expect(await screen.findByText("Start reading from")).toBeTruthy();
    press("Review plan");
    await rowsOf("Offsets before and after");
    press("Reset offsets");
    expect(await screen.findByText("The new offsets were committed and read back")).toBeTruthy();
  });

  it("shows why there is no plan, and keeps the form", async () => {
    await open(group(), { "POST /api/v1/plans": new Refusal(409, "The group is not empty") });
    await screen.findByText("Start reading from");
    press("Review plan");
    expect((await screen.findByRole("alert")).textContent).toContain("The group is not empty");
    expect(screen.getByText("Start reading from")).toBeTruthy();
  });
});
