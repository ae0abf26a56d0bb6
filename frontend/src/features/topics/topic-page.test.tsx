import { act, cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { figure, fill, openPage, press, rowsOf, whole } from "@/testing/app";
import { describePageStates } from "@/testing/page-states";
import { config, expiry, operation, partition, plan, retention, session, topic } from "@/testing/samples";
import { author, difference } from "@/testing/samples-drift";
import { type Answers, ok, Refusal } from "@/testing/server";

const PATH = "/clusters/c1/topics/sales";
const gold = (...data: ReturnType<typeof retention>[]) => ok({ as_of: "2026-11-21T10:00:00Z", run_id: "run_1", data });
const parts = { topic: ok(topic()), retention: gold(retention()) };
const open = (found = topic(), held = gold(retention()), search = "", more: Answers = {}) =>
  openPage(PATH + search, {
    "GET /console/api/pages/topic/c1/sales": { parts: { topic: ok(found), retention: held } },
    ...more,
  });

describePageStates({ path: PATH, page: "topic/c1/sales", title: "sales", parts, part: "topic", shows: "Leader" });

describe("one topic", () => {
  it("shows its figures and each partition with its replicas in words", async () => {
    await open(
      topic({
        partitions: [partition(), partition({ partition: 1, leader: null, isr: [2], log_end: null, size_bytes: null })],
      }),
    );
    expect(await rowsOf("Partitions")).toEqual([
      ["0", "broker 1", "1 (leader)2 (in sync)3 (in sync)", "3 of 3", "0", "100", "100", "1 KiB", "not known", "4"],
      ["1", "none", "1 (not in sync)2 (in sync)3 (not in sync)", "1 of 3", "0", "–", "–", "–", "not known", "4"],
    ]);
    expect([figure("Replicas"), figure("Records held"), figure("Kept for")]).toEqual([
      "1 offline",
      "100log end less log start",
      "1holdest record 30m",
    ]);
  });

  it("says what is in sync, what is behind, and what is kept for ever", async () => {
    await open(
      topic({
        partitions: [partition({ isr: [1, 2] })],
        configs: [config({ value: "-1" }), config({ name: "cleanup.policy", value: "compact" })],
      }),
      gold(),
    );
    await rowsOf("Partitions");
    expect([figure("Replicas"), figure("Kept for")]).toEqual(["1 behind", "for evercompact"]);
    expect(screen.getByText("No group's expiry is known for this topic")).toBeTruthy();
  });

  it("names the groups whose unread records expire", async () => {
    await open(
      topic(),
      gold(
        retention({ groups: [expiry(), expiry({ group: "idle", status: "SAFE", oldest_unread_expires_in_s: null })] }),
      ),
    );
    expect(await rowsOf("Expiry of unread records")).toEqual([
      ["readers", "Watch", "in 30m"],
      ["idle", "Safe", "nothing unread"],
    ]);
  });

  it("says what was changed outside, between which two moments, and by whom as far as that is known", async () => {
    const who = author({ by: "operation", actor: "user:eve", operation_id: "op_9", text: "user:eve" });
    const left = { operation_id: "op_7", text: "retention.ms is 1; it was left at 2.", text_code: "of-tomorrow" };
    const drift = [
      { ...difference({ field: "retention.ms", who }), ...left },
      { ...difference({ field: "partitions", equal_at: null }), ...left },
    ];
    await open(topic({ drift }));
    await rowsOf("Partitions");
    const said = screen.getAllByText(/^retention\.ms is 1; it was left at 2\./).map(({ textContent }) => textContent);
    expect(said[0]).toMatch(/ Changed between .+ and .+\. Who: user:eve the operation that did not succeed/);
    expect(said[1]).toMatch(/ Changed before .+\. Who: unknown, outside of this service/);
    const link = screen.getByRole("link", { name: "Operation that changed retention.ms" });
    expect(link.getAttribute("href")).toBe("/operations/op_9");
  });

  it("takes only more partitions than there are", async () => {
    const { asked } = await open(topic(), gold(), "", {
      "POST /api/v1/plans": plan({ kind: "topic.partitions", confirm_phrase: null }),
    });
    await rowsOf("Partitions");
    press("More");
    fireEvent.click(await screen.findByRole("menuitem", { name: "Add partitions" }));
    const dialog = within(await screen.findByRole("dialog"));
    const field = dialog.getByLabelText("Partitions afterwards");
    expect((field as HTMLInputElement).value).toBe("4");
    fireEvent.change(field, { target: { value: "2" } });
    expect(dialog.getByText("More than 2")).toBeTruthy();
    expect((dialog.getByRole("button", { name: "Review plan" }) as HTMLButtonElement).disabled).toBe(true);
    fireEvent.change(field, { target: { value: "5" } });
    fireEvent.click(dialog.getByRole("button", { name: "Review plan" }));
    await waitFor(() =>
      expect(asked.find((one) => one.method === "POST")?.body).toEqual({
        kind: "topic.partitions",
        cluster_id: "c1",
        inputs: { name: "sales", partitions: 5 },
      }),
    );
  });

  it("is deleted only after its name was typed, and leads back to the topics", async () => {
    const { asked, router } = await open(topic(), gold(), "", {
      "GET /console/api/pages/topics/c1": { parts: { topics: ok([]) } },
      "POST /api/v1/plans": plan(),
      "POST /api/v1/operations": operation({ kind: "topic.delete" }),
      "GET /console/api/pages/operation/op_1": {
        parts: { operation: ok(operation({ kind: "topic.delete" })), plan: ok(plan()) },
      },
    });
    await rowsOf("Partitions");
    press("More");
    fireEvent.click(await screen.findByRole("menuitem", { name: "Delete topic" }));
    const confirm = await screen.findByRole("button", { name: "Delete topic" });
    expect((confirm as HTMLButtonElement).disabled).toBe(true);
    expect(screen.getByText("1,000 records are lost.")).toBeTruthy();
    fill(/Type sales to confirm/, "sales");
    fireEvent.click(confirm);
    expect(await screen.findByRole("button", { name: "Back to topics" })).toBeTruthy();
    expect(screen.getByTestId("announced").textContent).toBe("Delete topic: Verified");
    expect(asked.find((one) => one.url === "/api/v1/operations")?.body).toMatchObject({
      plan_id: "pl_1",
      confirm: "sales",
    });
    // However the dialog is closed, the page of what is gone leads away.
    await act(() => Promise.resolve());
    fireEvent.keyDown(document.body, { key: "Escape" });
    await waitFor(() => expect(router.state.location.pathname).toBe("/clusters/c1/topics"), { timeout: 15_000 });
  });

  it("has a map of its partitions where they are many", async () => {
    await open();
    await rowsOf("Partitions");
    expect(screen.queryByRole("group", { name: /^Size by partition/ })).toBeNull();
    cleanup();
    await open(topic({ partitions: Array.from({ length: 31 }, (_, at) => partition({ partition: at })) }));
    await rowsOf("Partitions");
    expect(screen.getByRole("group", { name: /^Size by partition/ }).children).toHaveLength(31);
  });

  it("is emptied by a plan that says what goes and asks for the name", async () => {
    const { asked } = await open(topic(), gold(), "", {
      "POST /api/v1/plans": plan({
        kind: "topic.empty",
        diff: {
          before: { records: 1000, bytes: 2048 },
          after: { records: 0, bytes: 0 },
          partitions: [{ topic: "sales", partition: 0, log_start: 0, until: 1000, records: 1000 }],
        },
      } as never),
    });
    await rowsOf("Partitions");
    press("More");
    fireEvent.click(await screen.findByRole("menuitem", { name: "Empty topic" }));
    expect(await rowsOf("Where the logs begin")).toEqual([["sales-0", "0", "1,000", "1,000"]]);
    const confirm = screen.getByTestId("confirm-plan") as HTMLButtonElement;
    expect([confirm.textContent, confirm.disabled]).toEqual(["Empty topic", true]);
    fill(/Type sales to confirm/, "sales");
    expect(confirm.disabled).toBe(false);
    expect(asked.find((one) => one.method === "POST")?.body).toEqual({
      kind: "topic.empty",
      cluster_id: "c1",
      inputs: { name: "sales" },
    });
  });

  it("that is internal is never offered to be emptied", async () => {
    await open(topic({ internal: true }));
    await rowsOf("Partitions");
    press("More");
    expect(await screen.findByRole("menuitem", { name: "Add partitions" })).toBeTruthy();
    expect(screen.queryByRole("menuitem", { name: "Empty topic" })).toBeNull();
  });

  it("is cloned in the form of a new topic", async () => {
    const { router } = await open();
    await rowsOf("Partitions");
    press("More");
    fireEvent.click(await screen.findByRole("menuitem", { name: "Clone topic" }));
    await waitFor(() => expect(router.state.location.href).toBe("/clusters/c1/new-topic?from=sales"), {
      timeout: 15_000,
    });
  });

  it("that somebody else has deleted says so, and shows its old numbers no more", async () => {
    let answer: unknown = { parts };
    const { client } = await open(topic(), gold(), "", { "GET /console/api/pages/topic/c1/sales": () => answer });
    await rowsOf("Partitions");
    answer = new Refusal(404, "Not found", "There is no topic sales.");
    await act(() => client.refetchQueries({ queryKey: ["page", "topic"] }));
    expect(await screen.findByText("There is no topic sales.")).toBeTruthy();
    expect(screen.queryByRole("table", { name: "Partitions" })).toBeNull();
  });

  it("gives the focus back to what opened a dialog, through the menu too", async () => {
    await open(topic(), gold(), "", { "POST /api/v1/plans": plan() });
    await rowsOf("Partitions");
    const more = screen.getByRole("button", { name: "More" });
    more.focus();
    fireEvent.click(more);
    fireEvent.click(await screen.findByRole("menuitem", { name: "Delete topic" }));
    const phrase = await screen.findByLabelText(/Type sales to confirm/);
    await waitFor(() => expect(document.activeElement).toBe(phrase));
    press("Cancel");
    await waitFor(() => expect(document.activeElement).toBe(screen.getByRole("button", { name: "More" })));
  });
});

const LEASE = {
  until: new Date(Date.now() + 26 * 3_600_000).toISOString(),
  from_ms: 3_600_000,
  to_ms: 1_209_600_000,
  state: "active",
  operation_id: "op_7",
  problem: "",
};

describe("a retention lease", () => {
  it("says until when, what it was before, and is given back by a plan", async () => {
    const { asked } = await open(topic({ lease: LEASE }), gold(), "", {
      "POST /api/v1/plans": plan({ kind: "topic.retention_restore", confirm_phrase: null }),
    });
    const card = (await screen.findByText("Records are kept longer for a time")).closest("section");
    expect(card?.textContent).toContain("kept for14d");
    expect(card?.textContent).toContain("before1h");
    expect(card?.textContent).toMatch(/untilin 1d/);
    press("Put it back now");
    await screen.findByRole("form", { name: "Plan" });
    expect(asked.find((one) => one.method === "POST")?.body).toEqual({
      kind: "topic.retention_restore",
      cluster_id: "c1",
      inputs: { name: "sales", lease: "op_7" },
    });
  });

  it("says why its end is tried again, and that its end is under way", async () => {
    await open(topic({ lease: { ...LEASE, problem: "Broker 2 does not answer.", from_ms: null } }));
    expect(await screen.findByText("Broker 2 does not answer.")).toBeTruthy();
    expect(screen.getByText("an unknown time")).toBeTruthy();
    await open(topic({ lease: { ...LEASE, state: "restoring" } }));
    expect(await screen.findByText("Being put back")).toBeTruthy();
  });

  it("is only looked at by viewers", async () => {
    await open(topic({ lease: LEASE }), gold(), "", { "GET /console/api/session": session({ can_write: false }) });
    await screen.findByText("Records are kept longer for a time");
    expect(screen.queryByRole("button", { name: "Put it back now" })).toBeNull();
  });

  it("is planned for a set time, within a bound", async () => {
    const { asked } = await open(topic(), gold(), "", {
      "POST /api/v1/plans": plan({
        kind: "topic.retention_lease",
        confirm_phrase: null,
        diff: {
          before: {},
          after: {},
          effective_before: { "retention.ms": "3600000" },
          effective_after: { "retention.ms": "7200000" },
          restores_to: null,
          restores_to_ms: 3_600_000,
          for_s: 86_400,
          extends: false,
          disk: [
            {
              broker: 1,
              log_dir: "/data",
              held_bytes: 1024,
              bytes_at_end: null,
              total_bytes: 8192,
              usable_bytes: 4096,
              usable_at_end: null,
              fits: null,
            },
          ],
        } as never,
      }),
    });
    await rowsOf("Partitions");
    press("More");
    fireEvent.click(await screen.findByRole("menuitem", { name: "Keep records longer for a time" }));
    const form = within(await screen.findByRole("dialog"));
    expect(form.getByText(whole(/Now 1h/))).toBeTruthy();
    fireEvent.change(form.getByLabelText("Keep records for, hours"), { target: { value: "2" } });
    fireEvent.change(form.getByLabelText("Reason"), { target: { value: "billing is behind" } });
    fireEvent.click(form.getByRole("button", { name: "Review plan" }));
    await screen.findByRole("form", { name: "Plan" });
    expect(asked.find((one) => one.method === "POST")?.body).toEqual({
      kind: "topic.retention_lease",
      cluster_id: "c1",
      inputs: { name: "sales", retention_ms: 7_200_000, for_s: 86_400, reason: "billing is behind" },
    });
    expect(screen.getByText(whole("in 1d, by itself"))).toBeTruthy();
    expect((await rowsOf("Disk space"))[0]).toContain("not known");
  });
});
