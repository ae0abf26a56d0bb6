import { cleanup, fireEvent, screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, press, rowsOf } from "@/testing/app";
import { topic } from "@/testing/samples";
import { ok, PENDING, Refusal, stale, unavailable } from "@/testing/server";
import { abortCommands, advised } from "./hanging";
import type { Producer } from "@/lib/types";

const PATH = "/clusters/c1/topics/sales?tab=clients";
const PRODUCERS = "GET /console/api/pages/producers/c1/sales";
const MORE = {
  "GET /console/api/pages/topic/c1/sales": { parts: { topic: ok(topic()), retention: unavailable("x") } },
  "GET /console/api/pages/clients/c1/sales": { parts: { readers: ok({ groups: [], complete: true }), rules: ok([]) } },
};
const trace = (fields: Partial<Producer["partitions"][number]> = {}): Producer["partitions"][number] => ({
  partition: 0,
  epoch: 2,
  last_sequence: 41,
  last_timestamp_ms: Date.now() - 120_000,
  coordinator_epoch: null,
  open_since_offset: null,
  standing: null,
  ...fields,
});
const producer = (fields: Partial<Producer> = {}): Producer => ({
  producer_id: 4001,
  epoch: 2,
  last_timestamp_ms: Date.now() - 120_000,
  partition_count: 1,
  partitions: [trace()],
  transaction: null,
  ...fields,
});
const open = (standing: "open" | "late" | "hanging" | "unknown", fields: object = {}) =>
  producer({
    producer_id: 7,
    partitions: [trace({ open_since_offset: 4000, standing })],
    transaction: {
      standing,
      transactional_id: null,
      state: null,
      started_at_ms: null,
      timeout_ms: null,
      partition_count: 1,
    },
    ...fields,
  });
const found = (producers: Producer[], fields: object = {}) => ({
  as_of: "2026-11-21T10:00:00Z",
  complete: true,
  gaps: [],
  partition_count: 6,
  partitions_known: 6,
  producers,
  producer_count: producers.length,
  ...fields,
});
const show = (answer: unknown) => openPage(PATH, { ...MORE, [PRODUCERS]: answer });
const shown = (producers: Producer[], fields: object = {}) =>
  show({ parts: { producers: ok(found(producers, fields)) } });

describe("the producers of a topic", () => {
  it("has them with their last record, and each partition's memory behind a button", async () => {
    await shown([
      producer({ partition_count: 2, partitions: [trace(), trace({ partition: 3, last_sequence: null })] }),
      producer({ producer_id: 9, last_timestamp_ms: null }),
    ]);
    expect(await rowsOf("Producers")).toEqual([
      ["4001", "2", "2m ago", "none open", "2 partitions"],
      ["9", "2", "not known", "none open", "1 partition"],
    ]);
    const button = screen.getByRole("button", { name: "2 partitions" });
    expect(button.getAttribute("aria-expanded")).toBe("false");
    fireEvent.click(button);
    expect(button.getAttribute("aria-expanded")).toBe("true");
    expect(await rowsOf("Partitions of producer 4001")).toEqual([
      ["0", "2", "41", "2m ago", "–", "–", "none open"],
      ["3", "2", "–", "2m ago", "–", "–", "none open"],
    ]);
    press("2 partitions");
    expect(screen.queryByRole("table", { name: "Partitions of producer 4001" })).toBeNull();
    expect(screen.getByText(/Plain producers leave no trace/)).toBeTruthy();
  });

  it("names the application of an open transaction, and shows hostile names as text", async () => {
    const name = '<img src=x onerror="alert(1)">';
    const { transaction } = open("open");
    if (!transaction) throw new Error("it has one");
    const begun = { ...transaction, transactional_id: name, started_at_ms: Date.now() - 5000, timeout_ms: 60_000 };
    await shown([open("open", { transaction: begun })]);
    const row = within(await screen.findByRole("table", { name: "Producers" }));
    expect(row.getByText(name)).toBeTruthy();
    expect(row.getByText("open")).toBeTruthy();
    expect(row.getByText(/^begun/).textContent).toMatch(/begun .*, timeout 1m$/);
    expect(document.querySelector("img[src=x]")).toBeNull();
  });

  it("says of a hanging transaction how it is aborted", async () => {
    await shown([open("hanging")]);
    expect(await screen.findByText("1 producer has a hanging transaction")).toBeTruthy();
    expect(screen.getByLabelText("Commands to abort").textContent).toBe(
      "kafka-transactions.sh --bootstrap-server BOOTSTRAP --command-config client.properties abort" +
        " --topic sales --partition 0 --start-offset 4000",
    );
    expect(screen.getByRole("link", { name: "Follow the runbook" }).getAttribute("href")).toBe(
      "/runbooks/transactions-late?cluster=c1&topic=sales",
    );
  });

  it("says of one past its timeout that it is not to be aborted by hand", async () => {
    await shown([open("late")]);
    expect(await screen.findByText(/has a transaction that is open for longer than its timeout/)).toBeTruthy();
    expect(screen.getByText(/Do not abort it by hand/)).toBeTruthy();
    expect(screen.queryByLabelText("Commands to abort")).toBeNull();
  });

  it("calls nothing hanging while a coordinator has not said, and says who did not answer", async () => {
    await shown([open("unknown")], { complete: false, gaps: ["broker 2 did not answer"], partitions_known: 4 });
    expect(await screen.findByText("open, not known whose")).toBeTruthy();
    expect(screen.getByText(/broker 2 did not answer\. 4 of 6 partitions answered/)).toBeTruthy();
    expect(screen.queryByText(/hanging transaction/)).toBeNull();
  });

  it("tells nobody from nobody known", async () => {
    await shown([]);
    expect(await screen.findByText("No producer with a producer id is remembered")).toBeTruthy();
    cleanup();
    await shown([], { complete: false, gaps: ["broker 2 did not answer"], partitions_known: 0 });
    expect(await screen.findByText(/0 of 6 partitions answered, and knew of no producer/)).toBeTruthy();
    expect(screen.queryByText("No producer with a producer id is remembered")).toBeNull();
  });

  it("says that there are more", async () => {
    await shown([producer()], { producer_count: 1234 });
    expect(await screen.findByText(/The first 1 of 1,234 are shown/)).toBeTruthy();
  });

  it("waits, fails and grows old by itself: the rest of the tab stays", async () => {
    await show(PENDING);
    expect(await screen.findByText("No rule is about this topic")).toBeTruthy();
    expect(screen.getAllByLabelText("Loading").length).toBeGreaterThan(0);
    cleanup();
    await show(new Refusal(500, "The request cannot be served", "The service failed on its side."));
    expect(await screen.findByText("The service failed on its side.")).toBeTruthy();
    expect(screen.getByText("No rule is about this topic")).toBeTruthy();
    cleanup();
    await show({ parts: { producers: unavailable("The cluster did not answer in time.") } });
    expect(await screen.findByText(/The cluster did not answer in time\./)).toBeTruthy();
    cleanup();
    await show({ parts: { producers: stale(found([producer()]), "The cluster did not answer in time.") } });
    expect(await screen.findByText(/Shown as it was/)).toBeTruthy();
    expect(await screen.findByText("4001")).toBeTruthy();
  });
});

describe("commands to abort", () => {
  it("quotes a name that a shell would take apart, and keeps within their number", () => {
    const partitions = Array.from({ length: 30 }, (_, at) =>
      trace({ partition: at, open_since_offset: at, standing: "hanging" }),
    );
    const made = abortCommands("a'; rm -rf ~", [open("hanging", { partitions })]);
    expect(made.left).toBe(10);
    expect(made.text.split("\n")).toHaveLength(20);
    expect(made.text.split("\n")[0]).toMatch(/ --topic 'a'\\''; rm -rf ~' --partition 0 --start-offset 0$/);
  });

  it("leaves out partitions in which nothing hangs", () => {
    const partitions = [trace(), trace({ partition: 1, open_since_offset: 5, standing: "open" })];
    expect(abortCommands("sales", [open("hanging", { partitions })])).toEqual({ text: "", left: 0 });
    expect(advised([producer(), open("open"), open("unknown"), open("late")])).toHaveLength(1);
  });
});
