import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fill, heading, openPage, press, rowsOf, whole } from "@/testing/app";
import { describeListStates } from "@/testing/list-states";
import { listed, operation, plan, session } from "@/testing/samples";
import { alertDetail } from "@/testing/samples-alerts";
import { runbook, runbookEntry, runbookRun, runbookRunDetail } from "@/testing/samples-runbooks";
import { type Answers, ok, Refusal } from "@/testing/server";

const PATH = "/runbooks/group-losing-data";
const open = (search = "", more: Answers = {}) =>
  openPage(`${PATH}${search}`, {
    "GET /api/v1/runbooks/group-losing-data": runbook(),
    "GET /api/v1/runbook-runs": listed([runbookRun()]),
    "GET /api/v1/runbook-runs/rr_1": runbookRunDetail(),
    "GET /api/v1/alerts/al_1": alertDetail(),
    ...more,
  });
const sent = (asked: { method: string; url: string; body: unknown }[]) =>
  asked.filter((one) => one.method !== "GET").map((one) => [one.method, one.url, one.body]);
/** The navigation has a field for the cluster too, and a choice has a list beside its field. */
const value = (label: string) =>
  screen
    .getAllByLabelText(label)
    .filter((found) => found instanceof HTMLInputElement)
    .at(-1)?.value;

describe("a runbook", () => {
  it("is shown as text: what looks like HTML is no element, links lead to runbooks", async () => {
    await open();
    expect(await screen.findByText(/<script>alert\(1\)<\/script>/)).toBeTruthy();
    expect(document.querySelector(".ps-prose script")).toBeNull();
    expect(screen.getByRole("link", { name: "disk" }).getAttribute("href")).toBe("/runbooks/disk-full#filling");
    expect(heading()).toBe("A consumer group loses unread records");
    expect(screen.getByText("never")).toBeTruthy();
  });

  it("has its decisions as a table, once", async () => {
    await open();
    expect(await rowsOf("Decisions")).toEqual([
      ["When does unread data expire?", "Bad", "Take the lease."],
      ["When does unread data expire?", "OK", "Mend the group."],
    ]);
    expect(screen.getByText("That is all.")).toBeTruthy();
    expect(screen.getAllByText("Take the lease.")).toHaveLength(1);
  });

  it("begins with what its alert is about filled in", async () => {
    const { asked, router } = await open("?alert=al_1", {
      "POST /api/v1/runbooks/group-losing-data/runs": runbookRun(),
    });
    expect(await screen.findByText(/Filled in from the alert/)).toBeTruthy();
    expect([value("Cluster"), value("Group"), value("Topic"), value("Broker id")]).toEqual([
      "orders",
      "readers",
      "sales",
      "",
    ]);
    press("Begin a run");
    await waitFor(() => expect(router.state.location.search).toMatchObject({ run: "rr_1" }));
    expect(sent(asked)).toEqual([
      [
        "POST",
        "/api/v1/runbooks/group-losing-data/runs",
        { cluster_id: "c1", group: "readers", topic: "sales", alert_id: "al_1" },
      ],
    ]);
  });

  it("says when the alert cannot be read, and lets the subject be typed", async () => {
    const { asked } = await open("?alert=al_1", {
      "GET /api/v1/alerts/al_1": new Refusal(404, "Alert not found"),
      "POST /api/v1/runbooks/group-losing-data/runs": runbookRun(),
    });
    expect(await screen.findByText("The alert that led here cannot be read")).toBeTruthy();
    fill("Group", "other");
    press("Begin a run");
    await waitFor(() => expect(sent(asked)[0]?.[2]).toEqual({ cluster_id: null, group: "other" }));
  });

  it("is only read by viewers", async () => {
    await open("", { "GET /console/api/session": session({ can_write: false }) });
    expect(await screen.findByText(/Following a runbook needs a role/)).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Begin a run" })).toBeNull();
  });

  it.each([
    [403, "This needs a stronger role or scope"],
    [404, "Runbook not found"],
  ])("gives way to a refusal (%i)", async (status, text) => {
    await open("", { "GET /api/v1/runbooks/group-losing-data": new Refusal(status, text) });
    await waitFor(() => expect(heading()).toBe(text));
  });
});

describe("a run", () => {
  it("runs a check at a click and shows what it said, what applies, and what is not known", async () => {
    let entries: ReturnType<typeof runbookEntry>[] = [];
    const { asked } = await open("?run=rr_1", {
      "GET /api/v1/runbook-runs/rr_1": () => runbookRunDetail({ entries }),
      "POST /api/v1/runbook-runs/rr_1/checks/1": () => {
        entries = [runbookEntry()];
        return entries[0];
      },
    });
    fireEvent.click(await screen.findByRole("button", { name: "Run the check: When does unread data expire?" }));
    expect((await screen.findAllByText("The oldest unread record of sales expires in 40 min.")).length).toBe(2);
    expect(document.querySelector(".ps-found-facts")?.textContent).toContain("expires in 40m");
    expect(document.querySelector(".ps-found-facts")?.textContent).toContain("lost records not known");
    expect(document.querySelector(".ps-found-facts")?.textContent).toContain("12s old when it was checked");
    expect((await rowsOf("Decisions")).map((row) => row[1])).toEqual(["Badapplies", "OK"]);
    expect((await rowsOf("Recorded"))[0]?.slice(1, 3)).toEqual(["When does unread data expire?", "Bad"]);
    expect(sent(asked)).toHaveLength(1);
  });

  it("runs all checks that it can, one after the other, and says of the others why not", async () => {
    const { asked } = await open("?run=rr_1", {
      "POST /api/v1/runbook-runs/rr_1/checks/1": runbookEntry(),
      "POST /api/v1/runbook-runs/rr_1/checks/2": runbookEntry({ number: 2, name: "disk-usage", outcome: "unknown" }),
    });
    expect(await screen.findByText("the run says no broker")).toBeTruthy();
    press("Run all checks");
    await waitFor(() =>
      expect(sent(asked).map((one) => one[1])).toEqual([
        "/api/v1/runbook-runs/rr_1/checks/1",
        "/api/v1/runbook-runs/rr_1/checks/2",
      ]),
    );
  });

  it("says why a check could not be run", async () => {
    await open("?run=rr_1", {
      "POST /api/v1/runbook-runs/rr_1/checks/1": new Refusal(409, "It cannot be done now", "The run is over."),
    });
    fireEvent.click(await screen.findByRole("button", { name: "Run the check: When does unread data expire?" }));
    expect(await screen.findByText("The run is over.")).toBeTruthy();
  });

  it("makes an act's plan and shows it for confirmation: nothing is started by it", async () => {
    const { asked } = await open("?run=rr_1", {
      "POST /api/v1/runbook-runs/rr_1/acts/1": runbookEntry({ type: "act", outcome: "planned", plan_id: "pl_1" }),
      "GET /api/v1/plans/pl_1": plan(),
    });
    const form = within(await screen.findByRole("form", { name: "Keep the topic's records longer" }));
    expect(form.getByText(whole("= 14d"))).toBeTruthy();
    const show = form.getByRole("button", { name: "Show the plan" });
    expect(show.hasAttribute("disabled")).toBe(true);
    fireEvent.change(form.getByRole("textbox", { name: /^For/ }), { target: { value: "3600" } });
    fireEvent.click(show);
    expect(await screen.findByText("Topic sales is deleted with its records.")).toBeTruthy();
    expect(screen.getByText(/Nothing has been changed yet/)).toBeTruthy();
    expect(sent(asked)).toEqual([
      ["POST", "/api/v1/runbook-runs/rr_1/acts/1", { inputs: { retention_ms: 1_209_600_000, for_s: 3600 } }],
    ]);
  });

  it("confirms an act's plan without making another", async () => {
    const { asked } = await open("?run=rr_1", {
      "POST /api/v1/runbook-runs/rr_1/acts/1": runbookEntry({ type: "act", outcome: "planned", plan_id: "pl_1" }),
      "GET /api/v1/plans/pl_1": plan({ confirm_phrase: null }),
      "POST /api/v1/operations": operation({ state: "running" }),
      "GET /console/api/pages/operation/op_1": { parts: { operation: ok(operation()) } },
    });
    const form = within(await screen.findByRole("form", { name: "Keep the topic's records longer" }));
    fireEvent.change(form.getByRole("textbox", { name: /^For/ }), { target: { value: "3600" } });
    fireEvent.click(form.getByRole("button", { name: "Show the plan" }));
    fireEvent.submit(await screen.findByRole("form", { name: "Plan" }));
    expect(await screen.findByTestId("operation-live")).toBeTruthy();
    expect(sent(asked).map((one) => one[1])).toEqual(["/api/v1/runbook-runs/rr_1/acts/1", "/api/v1/operations"]);
  });

  it("shows why there is no plan", async () => {
    await open("?run=rr_1", {
      "POST /api/v1/runbook-runs/rr_1/acts/1": new Refusal(409, "It does not fit", "The disk of broker 2 has no room."),
    });
    const form = within(await screen.findByRole("form", { name: "Keep the topic's records longer" }));
    fireEvent.change(form.getByRole("textbox", { name: /^For/ }), { target: { value: "3600" } });
    fireEvent.click(form.getByRole("button", { name: "Show the plan" }));
    expect(await screen.findByText("The disk of broker 2 has no room.")).toBeTruthy();
  });

  it("ends with how it came out, and can then only be read", async () => {
    let found = runbookRunDetail();
    const { asked } = await open("?run=rr_1", {
      "GET /api/v1/runbook-runs/rr_1": () => found,
      "POST /api/v1/runbook-runs/rr_1/end": () =>
        (found = runbookRunDetail({ state: "resolved", note: "took the lease", ended_at: "2026-11-21T10:20:00Z" })),
    });
    fireEvent.click(await screen.findByRole("button", { name: "End the run" }));
    const form = within(await screen.findByRole("dialog"));
    expect(form.getByRole("button", { name: "End it" }).hasAttribute("disabled")).toBe(true);
    fireEvent.click(form.getByRole("radio", { name: "Resolved: it is mended" }));
    fireEvent.change(form.getByLabelText("Note"), { target: { value: "took the lease" } });
    fireEvent.click(form.getByRole("button", { name: "End it" }));
    expect(await screen.findByText("“took the lease”")).toBeTruthy();
    expect(sent(asked)).toEqual([
      ["POST", "/api/v1/runbook-runs/rr_1/end", { outcome: "resolved", note: "took the lease" }],
    ]);
    expect(screen.queryByRole("button", { name: /^Run the check/ })).toBeNull();
  });

  it("of another runbook is not followed here", async () => {
    await open("?run=rr_1", { "GET /api/v1/runbook-runs/rr_1": runbookRunDetail({ runbook: "disk-full" }) });
    expect(await screen.findByText("The run rr_1 follows another runbook.")).toBeTruthy();
    expect(screen.queryByRole("button", { name: /^Run the check/ })).toBeNull();
  });
});

describeListStates({
  path: "/runbooks",
  url: "GET /api/v1/runbooks",
  answer: { data: [runbook()] },
  shows: "A consumer group loses unread records",
  more: { "GET /api/v1/runbook-runs": listed([]) },
});

it("lists runbooks with the alerts that lead to them, and the latest runs", async () => {
  await openPage("/runbooks", {
    "GET /api/v1/runbooks": {
      data: [
        runbook(),
        runbook({ id: "backup", title: "Back up", alerts: [], last_verified: "2026-11-20", is_stale: false }),
      ],
    },
    "GET /api/v1/runbook-runs": listed([runbookRun()]),
  });
  expect((await rowsOf("Runbooks")).map((row) => [row[1], row[2], row[4]])).toEqual([
    ["Consumer group loses unread records", "15 min", "never"],
    ["–", "15 min", "2026-11-20"],
  ]);
  expect((await rowsOf("Runs"))[0]?.slice(1, 4)).toEqual([
    "A consumer group loses unread records",
    "orders, group readers, topic sales",
    "Open",
  ]);
});
