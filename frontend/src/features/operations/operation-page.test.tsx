import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { heading, openPage, press, rowsOf, whole } from "@/testing/app";
import { operation, plan, session, step } from "@/testing/samples";
import { type Answers, ok, PENDING, Refusal, unavailable } from "@/testing/server";

const URL = "GET /console/api/pages/operation/op_1";
const answer = (found = operation(), confirmed: object = ok(plan())) => ({
  parts: { operation: ok(found), plan: confirmed },
});
const open = (body: unknown = answer(), more: Answers = {}) => openPage("/operations/op_1", { [URL]: body, ...more });
const steps = async () =>
  within(await screen.findByRole("list", { name: "Steps" }))
    .getAllByRole("listitem")
    .map((item) => item.textContent);

describe("one operation", () => {
  it("shows its steps with what each did, its facts and the plan that was confirmed", async () => {
    await open(
      answer(
        operation({
          reason: "because",
          reverts: "op_0",
          steps: [step({ detail: "6 partitions" }), step({ index: 1, title: "", name: "wait_for_leaders" })],
        }),
      ),
    );
    expect(await steps()).toEqual(["Create the topic3s6 partitions", "Wait for leaders3s"]);
    expect(heading()).toBe("Create topic");
    for (const text of ["because", "op_0", "1,000 records are lost."])
      expect(await screen.findByText(text)).toBeTruthy();
    expect(screen.getByLabelText("Plan request").textContent).toContain('"name": "sales"');
  });

  it("shows how far a step is, and hides clean-up that had nothing to do", async () => {
    const copying = step({
      state: "running",
      title: "Copy",
      progress_done: 1024,
      progress_total: 4096,
      unit: "bytes",
      finished_at: null,
    });
    await open(
      answer(
        operation({
          state: "running",
          cancellable: true,
          eta_seconds: 90,
          progress: { done: 1, total: 4, unit: "steps" },
          steps: [copying, step({ index: 1, title: "Put back", phase: "restore", state: "pending" })],
        }),
      ),
    );
    const [only, ...rest] = await steps();
    expect(only).toMatch(/^Copy.*1 KiB of 4 KiB$/);
    expect(rest).toEqual([]);
    expect(screen.getByRole("progressbar", { name: "Operation progress" }).getAttribute("aria-valuenow")).toBe("25");
    expect(screen.getByText(whole("about 1m 30s left"))).toBeTruthy();
    expect(screen.getByText("refreshing every 1.5 s")).toBeTruthy();
  });

  it("can be cancelled, and says what became of it", async () => {
    await open(answer(operation({ state: "running", cancellable: true })), {
      "POST /api/v1/operations/op_1/cancellation": operation({ state: "cancelled" }),
    });
    await steps();
    press("Cancel operation");
    expect(await screen.findByText("Cancelled. Everything is as before.")).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Cancel operation" })).toBeNull();
  });

  describe("that restarts brokers in turn", () => {
    const rolled = {
      id: 2,
      state: "done",
      since: null,
      restarted_at: "2026-11-21T10:00:00Z",
      registered_at: "2026-11-21T10:00:02Z",
      in_sync_at: "2026-11-21T10:00:03Z",
      note: "",
      seen: { gap_s: 0.42, partition: 1, failed: 0, error: "", is_whole: true },
    };
    const waits = { restarted_at: null, registered_at: null, in_sync_at: null, seen: null, state: "waiting" };
    const rolling = (more: object = {}, brokers: object[] = [rolled, { ...rolled, ...waits, id: 1 }]) =>
      operation({
        kind: "cluster.restart",
        state: "running",
        pausable: true,
        cancellable: true,
        outcome: { roll: { brokers, waiting_for: [] } },
        ...more,
      } as never);

    it("shows where each broker is and what clients saw of it", async () => {
      await open(
        answer(
          rolling({}, [
            rolled,
            { ...rolled, id: 3, seen: { ...rolled.seen, gap_s: 0, failed: 2, is_whole: false } },
            { ...rolled, id: 4, seen: null, note: "1 partition that prefer it are led by others", note_parts: [] },
            { ...rolled, ...waits, id: 1 },
          ]),
        ),
      );
      expect(await rowsOf("Brokers, one after the other")).toEqual([
        ["2", "done", "3s", "420ms", ""],
        ["3", "done", "3s", "under 0.1 s, 2 records failed, measured in part", ""],
        ["4", "done", "3s", "not measured", "1 partition that prefer it are led by others"],
        ["1", "waits for its turn", "–", "–", ""],
      ]);
    });

    it("says what the next broker waits for", async () => {
      const behind = "1 partition with replicas out of sync (sales-0)";
      const outcome = { roll: { brokers: [rolled], waiting_for: [behind] } };
      await open(answer(rolling({ outcome })));
      expect(await screen.findByText(behind)).toBeTruthy();
    });

    it("says so by its parts", async () => {
      const part = (code: string, params: object) => ({ code, params, text: "Fly." });
      const behind = part("obstacle/replicas-behind", { partitions: 1, names: "sales-0", more: 0 });
      const led = part("roll/led-by-others", { partitions: 2 });
      const roll = {
        brokers: [{ ...rolled, note: "Fly.", note_parts: [led] }],
        waiting_for: ["Fly.", "Swim."],
        waiting_for_parts: [[behind], []],
      };
      await open(answer(rolling({ outcome: { roll } })));
      expect(await screen.findByText("1 partition with replicas out of sync (sales-0); Swim.")).toBeTruthy();
      expect(screen.getByText("2 partitions that prefer it are led by others")).toBeTruthy();
    });

    it("is paused and goes on", async () => {
      const paused = rolling({ paused_at: "2026-11-21T10:00:00Z", paused_by: "user:ada" });
      await open(answer(rolling()), {
        "POST /api/v1/operations/op_1/pause": paused,
        "POST /api/v1/operations/op_1/resumption": rolling(),
      });
      await rowsOf("Brokers, one after the other");
      press("Pause after this broker");
      expect(await screen.findByText("Paused")).toBeTruthy();
      press("Resume");
      expect(await screen.findByRole("button", { name: "Pause after this broker" })).toBeTruthy();
    });

    it("offers a viewer neither", async () => {
      await open(answer(rolling()), { "GET /console/api/session": session({ can_write: false }) });
      await rowsOf("Brokers, one after the other");
      expect(screen.queryByRole("button", { name: "Pause after this broker" })).toBeNull();
    });
  });

  it("shows why it failed", async () => {
    const error = {
      type: "t",
      code: "c",
      title: "The brokers refused",
      detail: "NOT_CONTROLLER",
      status: 409,
      retryable: false,
    };
    await open(answer(operation({ state: "failed", error, steps: [step({ state: "failed" })] })));
    await steps();
    expect(screen.getAllByRole("alert").map((alert) => alert.textContent)).toContain(
      "The brokers refusedNOT_CONTROLLER",
    );
    expect(screen.getByLabelText("failed")).toBeTruthy();
  });

  it("says what a failed operation has left, and offers to take it away", async () => {
    const left = ["The topic new stays: it was made, and records have been written to it."];
    await open(answer(operation({ state: "failed", revertible: true, remains: left, remains_parts: [[]] })));
    await steps();
    expect(screen.getByText("This stays")).toBeTruthy();
    expect(screen.getByText(left[0] as string)).toBeTruthy();
    expect(screen.queryByText(/everything is as before/)).toBeNull();
    expect(screen.getByRole("button", { name: "Undo" })).toBeTruthy();
  });

  it("says that everything is as before only where that is known", async () => {
    await open(answer(operation({ state: "failed", remains: [] })));
    await steps();
    expect(screen.getByText("What it had changed was put back: everything is as before.")).toBeTruthy();
  });

  it("says nothing of what an older operation may have left", async () => {
    await open(answer(operation({ state: "failed", remains: null, remains_parts: null })));
    await steps();
    expect(screen.getByText("Whether anything of it stays was not noted.")).toBeTruthy();
    expect(screen.queryByText(/everything is as before/)).toBeNull();
    expect(screen.queryByText("This stays")).toBeNull();
  });

  it("that was undone says by what, and what did not come back", async () => {
    const impact = {
      summary: "",
      warnings: [],
      risks: [],
      undo: { restores: "the settings go back", stays: ["Records do not come back."] },
    };
    await open(answer(operation({ state: "reverted", reverted_by: "op_9" }), ok(plan({ impact } as never))));
    await steps();
    expect(screen.getByText(/What it changed was put back by/).textContent).toContain("op_9, which was verified");
    expect(await screen.findByText(/It was undone: the settings go back\. Records do not come back\./)).toBeTruthy();
    expect(screen.getByTestId("announced").textContent).toBe("Create topic: Undone");
  });

  it("is shown as undone once its undo was verified in the dialog", async () => {
    let state: "succeeded" | "reverted" = "succeeded";
    const undoing = operation({ id: "op_2", kind: "topic.delete", reverts: "op_1" });
    await openPage("/operations/op_1", {
      [URL]: () =>
        answer(
          operation({ revertible: state === "succeeded", state, reverted_by: state === "reverted" ? "op_2" : null }),
        ),
      "POST /api/v1/operations/op_1/undo-plan": plan({ id: "pl_2", kind: "topic.delete", confirm_phrase: null }),
      "POST /api/v1/operations": () => {
        state = "reverted";
        return undoing;
      },
      "GET /console/api/pages/operation/op_2": answer(undoing),
    });
    await steps();
    press("Undo");
    const dialog = within(await screen.findByRole("dialog", { name: "Undo: create topic" }));
    (await dialog.findByRole("button", { name: "Delete topic" })).click();
    expect(await screen.findByText(/What it changed was put back by/)).toBeTruthy();
    // The dialog stays until its end was seen, though the button that opened it is gone.
    expect(dialog.getByTestId("operation-live").dataset["state"]).toBe("succeeded");
    expect(screen.queryByRole("button", { name: "Undo", hidden: true })).toBeNull();
  });

  it("is undone by a plan that is confirmed like any other, whose operation is shown live", async () => {
    const undo = plan({ id: "pl_2", kind: "topic.delete", confirm_phrase: null });
    await open(answer(operation({ revertible: true })), {
      "POST /api/v1/operations/op_1/undo-plan": undo,
      "POST /api/v1/operations": operation({ id: "op_2", kind: "topic.delete" }),
      "GET /console/api/pages/operation/op_2": answer(
        operation({ id: "op_2", kind: "topic.delete", steps: [step({ title: "Delete the topic" })] }),
      ),
    });
    await steps();
    press("Undo");
    const dialog = within(await screen.findByRole("dialog", { name: "Undo: create topic" }));
    (await dialog.findByRole("button", { name: "Delete topic" })).click();
    expect(await dialog.findByText("Delete the topic")).toBeTruthy();
    expect(dialog.getByRole("link", { name: "Open operation" }).getAttribute("href")).toBe("/operations/op_2");
  });

  it("offers no undo once it was undone", async () => {
    await open(answer(operation({ revertible: true, reverted_by: "op_9" })));
    await steps();
    expect(screen.queryByRole("button", { name: "Undo" })).toBeNull();
    expect(screen.getByRole("link", { name: "op_9" })).toBeTruthy();
  });

  it("shows its password once", async () => {
    await open(answer(operation({ kind: "user.create", has_secret: true })), {
      "POST /api/v1/operations/op_1/secret": { username: "app", password: "s3cret", mechanism: "SCRAM-SHA-512" },
    });
    await steps();
    expect(screen.queryByText("s3cret")).toBeNull();
    press("Show password");
    expect((await screen.findByLabelText("Password")).textContent).toBe("s3cret");
    expect(screen.queryByRole("button", { name: "Show password" })).toBeNull();
  });

  it("says that a password is gone", async () => {
    await open(answer(operation({ kind: "user.create", has_secret: true })), {
      "POST /api/v1/operations/op_1/secret": new Refusal(410, "No longer available"),
    });
    await steps();
    press("Show password");
    expect(await screen.findByText("No longer available")).toBeTruthy();
  });

  it("keeps its steps while the plan is missing", async () => {
    await open(answer(operation(), unavailable("The database is busy.")));
    expect(await steps()).toHaveLength(2);
    expect(await screen.findByText(/The database is busy\. The rest of the page is not affected/)).toBeTruthy();
  });

  it("shows placeholders while it is awaited", async () => {
    await open(PENDING);
    expect((await screen.findAllByLabelText("Loading")).length).toBeGreaterThan(0);
  });

  it("gives way to a refusal", async () => {
    await open(new Refusal(404, "Operation not found"));
    await waitFor(() => expect(heading()).toBe("Operation not found"));
  });
});
