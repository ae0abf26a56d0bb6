import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fill, openPage, press, rowsOf } from "@/testing/app";
import { describePageStates } from "@/testing/page-states";
import { collector, listed, operation, plan, session } from "@/testing/samples";
import { group, groupOffset, groupRow } from "@/testing/samples-groups";
import type { Session } from "@/lib/types";
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
    [/Some time ago/, ["How long ago", "3"], { strategy: "duration", value: 10_800_000 }],
    [/Offsets of a file/, ["Offsets", "sales,0,7"], { strategy: "file", file: "sales,0,7" }],
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

  it("plans some partitions of some topics", async () => {
    const { asked } = await open(
      group({ offsets: [groupOffset(), groupOffset({ partition: 1 }), groupOffset({ topic: "a-b", partition: 12 })] }),
    );
    await screen.findByText("Start reading from");
    fireEvent.click(screen.getByRole("combobox", { name: "Partitions" }));
    fireEvent.click(await screen.findByRole("option", { name: "a-b-12" }));
    press("Review plan");
    await waitFor(() =>
      expect(asked.find((one) => one.method === "POST")?.body).toMatchObject({
        inputs: { group: "readers", strategy: "earliest", partitions: [{ topic: "a-b", partition: 12 }] },
      }),
    );
  });

  it("reads a file of this computer, and says by its field which line is wrong", async () => {
    const errors = [{ pointer: "/inputs/file", detail: "Line 2: there is no sales-9." }];
    const refusal = new Refusal(422, "The inputs are not right", "See the fields.", { errors });
    const { asked } = await open(group(), { "POST /api/v1/plans": refusal });
    await screen.findByText("Start reading from");
    choose(/Offsets of a file/);
    expect((screen.getByRole("button", { name: "Review plan" }) as HTMLButtonElement).disabled).toBe(true);
    const picker = document.querySelector<HTMLInputElement>("input[type=file]");
    if (!picker) throw new Error("there is no picker of files");
    fireEvent.change(picker, { target: { files: [new File(["sales,0,1\nsales,9,1"], "offsets.csv")] } });
    await waitFor(() =>
      expect(screen.getByLabelText<HTMLTextAreaElement>("Offsets").value).toBe("sales,0,1\nsales,9,1"),
    );
    press("Review plan");
    await waitFor(() => expect(screen.getAllByText("Line 2: there is no sales-9.").length).toBeGreaterThan(0));
    expect(screen.getByLabelText("Offsets").getAttribute("aria-invalid")).toBe("true");
    expect(asked.filter((one) => one.method === "POST")).toHaveLength(1);
  });

  it("offers the groups of the cluster, but not the group itself, and copies from one", async () => {
    const { asked } = await open(group(), {
      "GET /api/v1/clusters/c1/groups": listed([groupRow(), groupRow({ group: "others" })]),
    });
    await screen.findByText("Start reading from");
    choose(/Where another group/);
    const field = screen.getByRole("combobox", { name: "Group to copy from" });
    fireEvent.focus(field);
    fireEvent.click(field);
    expect(await screen.findByRole("option", { name: "others", hidden: true })).toBeTruthy();
    expect(screen.queryByRole("option", { name: "readers", hidden: true })).toBeNull();
    fireEvent.change(field, { target: { value: "others" } });
    press("Review plan");
    await waitFor(() =>
      expect(asked.find((one) => one.method === "POST")?.body).toMatchObject({
        inputs: { group: "readers", strategy: "copy", from_group: "others" },
      }),
    );
  });

  it("waits until nobody consumes, and names who does", async () => {
    const member = { member_id: "m", client_id: "app", host: "/10.0.0.7", partitions: [] };
    const hostile = {
      ...member,
      member_id: "n",
      client_id: "<b>n</b>",
      partitions: [{ topic: "sales", partition: 0 }],
    };
    await open(group({ members: [member, hostile] }));
    expect(await screen.findByText("2 members of this group are active")).toBeTruthy();
    const names = within(screen.getByRole("list", { name: "Members that keep it from running" })).getAllByRole(
      "listitem",
    );
    expect(names.map((name) => name.textContent)).toEqual([
      "app on 10.0.0.7, 0 partitions",
      "<b>n</b> on 10.0.0.7, 1 partition",
    ]);
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

  it("shows on request the record that a partition would read first, as text whatever it holds", async () => {
    const text = "<img src=x onerror=alert(1)>";
    const bytes = (more: object) => ({
      kind: "string",
      text: "",
      truncated: false,
      size_bytes: 3,
      schema: "",
      problem: "",
      masked: false,
      ...more,
    });
    const record = {
      offset: 2,
      timestamp: null,
      key: bytes({ kind: "hex", text: "ff00" }),
      value: bytes({ text, size_bytes: 5000, truncated: true }),
      headers: [
        { name: "trace", ...bytes({ kind: "null", size_bytes: null }) },
        { name: "token", ...bytes({ text: "•••", size_bytes: null, masked: true }) },
      ],
      headers_left_out: 3,
    };
    const { asked } = await open(group(), {
      "GET /api/v1/clusters/c1/offset-samples/sales": { topic: "sales", partition: 0, offset: 0, record },
    });
    await screen.findByText("Start reading from");
    press("Review plan");
    await rowsOf("Offsets before and after");
    expect(asked.some((one) => one.url.includes("offset-samples"))).toBe(false);
    fireEvent.click(screen.getByRole("combobox", { name: "See the record that is read first" }));
    fireEvent.click(await screen.findByRole("option", { name: "sales-0" }));
    expect(await screen.findByText(text)).toBeTruthy();
    expect(document.querySelector("img")).toBeNull();
    expect(screen.getByText("2 (the first one that is there)")).toBeTruthy();
    expect(screen.getByText("3 B, not text, in hexadecimal")).toBeTruthy();
    expect(screen.getByText("4.88 KiB, only the beginning")).toBeTruthy();
    expect(screen.getByText("3 more are not shown")).toBeTruthy();
    expect(screen.getByText("a mask hides something here")).toBeTruthy();
  });

  it("says that nothing is there yet, or why a record could not be read", async () => {
    const ADDRESS = "GET /api/v1/clusters/c1/offset-samples/sales";
    const choosePartition = async () => {
      await screen.findByText("Start reading from");
      press("Review plan");
      await rowsOf("Offsets before and after");
      fireEvent.click(screen.getByRole("combobox", { name: "See the record that is read first" }));
      fireEvent.click(await screen.findByRole("option", { name: "sales-1" }));
    };
    await open(group(), { [ADDRESS]: { topic: "sales", partition: 1, offset: 5, record: null } });
    await choosePartition();
    expect(await screen.findByText("Nothing is there yet: the log ends at 5.")).toBeTruthy();
    cleanup();
    await open(group(), { [ADDRESS]: new Refusal(503, "Partition 1 of sales did not bring its record in time.") });
    await choosePartition();
    expect(await screen.findByText("Partition 1 of sales did not bring its record in time.")).toBeTruthy();
  });

  it("offers no record to who may not read the messages of the topic, and says so", async () => {
    const browses: Session["browses"] = [
      { clusters: { match: "any", name: "" }, over: "topic", names: { match: "prefix", name: "other-" } },
    ];
    const { asked } = await open(group(), { "GET /console/api/session": session({ browses }) });
    await screen.findByText("Start reading from");
    press("Review plan");
    await rowsOf("Offsets before and after");
    expect(screen.getByText(/reading them needs the role message-reader, operator or owner/)).toBeTruthy();
    expect(screen.queryByRole("combobox", { name: "See the record that is read first" })).toBeNull();
    expect(asked.some((one) => one.url.includes("offset-samples"))).toBe(false);
  });

  it("shows why there is no plan, and keeps the form", async () => {
    await open(group(), { "POST /api/v1/plans": new Refusal(409, "The group is not empty") });
    await screen.findByText("Start reading from");
    press("Review plan");
    expect((await screen.findByRole("alert")).textContent).toContain("The group is not empty");
    expect(screen.getByText("Start reading from")).toBeTruthy();
  });
});
