import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { Backfill } from "@/lib/backfills";
import { fill, heading, openPage, press, rowsOf, whole } from "@/testing/app";
import { describeListStates } from "@/testing/list-states";
import { listed, over, session } from "@/testing/samples";
import { type Answers, Refusal } from "@/testing/server";

const LIST = "GET /api/v1/operator/analytics/backfills";
const operator = { "GET /console/api/session": session({ user: { username: "root", email: "", is_staff: true } }) };
const run = over<Backfill>({
  id: "run_1",
  job: "hourly",
  state: "succeeded",
  trigger: "manual",
  requested_by: "user:root",
  from: "2026-11-21T08:00:00Z",
  to: "2026-11-21T10:00:00Z",
  attempt: 1,
  progress: {},
  eta_s: null,
  cancel_requested: false,
  created_at: "2026-11-21T10:00:00Z",
  started_at: "2026-11-21T10:00:00Z",
  finished_at: "2026-11-21T10:01:00Z",
  rows_out: 1234,
  wall_s: 61,
  error: "",
});
const RUNNING = run({
  id: "run_2",
  state: "running",
  progress: { phase: "silver", done: 3, total: 4 },
  eta_s: 29.6,
  created_at: "2026-11-21T11:00:00Z",
  wall_s: null,
  rows_out: 0,
});
const open = (rows: Backfill[], more: Answers = {}) =>
  openPage("/platform?tab=backfills", { ...operator, [LIST]: listed(rows), ...more });
const written = (asked: { method: string; url: string; body: unknown }[]) =>
  asked.filter((one) => one.method !== "GET").map((one) => [one.method, one.url, one.body]);

describeListStates({
  path: "/platform?tab=backfills",
  url: LIST,
  answer: listed([run()]),
  shows: "1m 1s",
  more: operator,
});

describe("hours and days computed again", () => {
  it("are listed with progress and time to go, the newest first", async () => {
    await open([
      run(),
      RUNNING,
      run({
        id: "run_0",
        job: "daily",
        state: "failed",
        trigger: "schedule",
        error: "No lake.",
        wall_s: null,
        created_at: "2026-11-20T00:00:00Z",
      }),
    ]);
    expect((await rowsOf("Backfills")).map((row) => row.slice(1, 4))).toEqual([
      ["running", "silver, 75 %, about 30s to go", "–"],
      ["succeeded", "took 1m 1s", "1,234"],
      ["failedNo lake.", "–", "–"],
    ]);
    expect(screen.getByRole("progressbar", { name: "Progress of run_2" }).getAttribute("aria-valuenow")).toBe("75");
    expect(screen.getByText(/by schedule/)).toBeTruthy();
  });

  it("are asked for by range, as the service takes it", async () => {
    const { asked } = await open([], { "POST /api/v1/operator/analytics/backfills": run() });
    expect(await screen.findByText("No hours or days were computed yet")).toBeTruthy();
    press("Compute a range again");
    const form = within(await screen.findByRole("dialog"));
    const begin = new Date(Date.now() - 7_200_000);
    const local = (date: Date) =>
      new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
    fill("From (your time)", local(begin));
    fireEvent.click(form.getByRole("button", { name: "Compute it" }));
    await waitFor(() => expect(written(asked)).toHaveLength(1));
    expect(written(asked)[0]?.[2]).toMatchObject({
      job: "hourly",
      from: new Date(local(begin)).toISOString(),
    });
  });

  it("are not asked for of a range that would be refused; another run is said in the service's words", async () => {
    await open([], {
      "POST /api/v1/operator/analytics/backfills": new Refusal(409, "The run run_2 is running; one runs at a time."),
    });
    await screen.findByText("No hours or days were computed yet");
    press("Compute a range again");
    const form = within(await screen.findByRole("dialog"));
    fill("From (your time)", "2020-01-01T00:00");
    expect(form.getByText("At most 7 days at a time.")).toBeTruthy();
    expect((form.getByRole("button", { name: "Compute it" }) as HTMLButtonElement).disabled).toBe(true);
    fill("Until (your time)", "2020-01-02T00:00");
    fireEvent.click(form.getByRole("button", { name: "Compute it" }));
    expect(await form.findByText("The run run_2 is running; one runs at a time.")).toBeTruthy();
  });

  it("are ended while they run, and then no more", async () => {
    let shown = RUNNING;
    const { asked } = await open([], {
      [LIST]: () => listed([shown, run()]),
      "POST /api/v1/operator/analytics/runs/run_2/cancellation": () => {
        shown = { ...RUNNING, cancel_requested: true };
        return shown;
      },
    });
    await rowsOf("Backfills");
    expect(screen.queryByRole("button", { name: "Actions for run_1" })).toBeNull();
    press("Actions for run_2");
    fireEvent.click(await screen.findByRole("menuitem", { name: "End it" }));
    await waitFor(() => expect(written(asked)).toHaveLength(1));
    expect(await screen.findByText("is being ended")).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Actions for run_2" })).toBeNull();
  });

  it("say why one could not be ended, and are read again", async () => {
    let shown = RUNNING;
    await open([], {
      [LIST]: () => listed([shown]),
      "POST /api/v1/operator/analytics/runs/run_2/cancellation": () => {
        shown = run({ id: "run_2" });
        return new Refusal(409, "The run is over", "It has succeeded; there is nothing to end.");
      },
    });
    await rowsOf("Backfills");
    press("Actions for run_2");
    fireEvent.click(await screen.findByRole("menuitem", { name: "End it" }));
    expect(await screen.findByText("It has succeeded; there is nothing to end.")).toBeTruthy();
    expect(await screen.findByText(whole("took 1m 1s"))).toBeTruthy();
  });

  it("have no bar where nothing is known of the progress", async () => {
    await open([run({ state: "queued", wall_s: null }), run({ id: "run_3", state: "running", wall_s: null })]);
    expect((await rowsOf("Backfills")).map((row) => row[2])).toEqual(["waits for its turn", "begins"]);
    expect(screen.queryByRole("progressbar")).toBeNull();
  });

  it("keep a menu open while the list is read again", async () => {
    let done = 3;
    const { client } = await open([], { [LIST]: () => listed([{ ...RUNNING, progress: { done, total: 100 } }]) });
    await rowsOf("Backfills");
    press("Actions for run_2");
    const item = await screen.findByRole("menuitem", { name: "End it" });
    done = 77;
    await client.invalidateQueries({ queryKey: ["page", "platform", "backfills"] });
    expect(await screen.findByText(/77 %/)).toBeTruthy();
    expect(screen.getByRole("menuitem", { name: "End it" })).toBe(item);
  });

  it("are for operators of the platform alone", async () => {
    const { asked } = await open([], { "GET /console/api/session": session() });
    await waitFor(() => expect(heading()).toBe("This is for operators of the platform"));
    expect(asked.filter((one) => one.url.includes("/operator/"))).toEqual([]);
  });
});
