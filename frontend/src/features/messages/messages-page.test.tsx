import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import type { Message, MessageEvents, MessagePart } from "@/lib/types";
import { fill, openPage, press, rowsOf } from "@/testing/app";
import { type Answers, ok, Refusal } from "@/testing/server";
import { topic } from "@/testing/samples";

const PATH = "/clusters/c1/topics/orders/messages";
const STREAM = "GET /console/events/messages/c1/orders";
const HOSTILE = '<script>alert("x")</script>\u202egnp.exe\u0000\n';

const part = (text: string, more: Partial<MessagePart> = {}): MessagePart => ({
  kind: "string",
  text,
  truncated: false,
  size_bytes: text.length,
  schema: "",
  problem: "",
  masked: false,
  ...more,
});
const message = (offset: number, more: Partial<Message> = {}): Message => ({
  partition: 0,
  offset,
  timestamp_ms: 1_700_000_000_000,
  timestamp: "2023-11-14T22:13:20Z",
  timestamp_type: "create",
  key: part(`key-${offset}`),
  value: part(`value-${offset}`),
  headers: [],
  headers_left_out: 0,
  masked: false,
  ...more,
});
const progress = {
  records: 1_234,
  bytes: 4_096,
  matched: 2,
  filter_errors: 0,
  left_out: 0,
  elapsed_ms: 1_500,
  waits_for: [],
};
const done = (more: Partial<MessageEvents["done"]> = {}): MessageEvents["done"] => ({
  ...progress,
  ended_by: "end",
  cursor: null,
  unavailable: [],
  silent: [],
  held_back: [],
  ...more,
});

const event = (name: string, data: unknown) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/** A stream that a test feeds, and that says when it was cancelled. */
function streamed(...first: string[]) {
  let feed!: ReadableStreamDefaultController<Uint8Array>;
  const state = { cancelled: false };
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      feed = controller;
    },
    cancel() {
      state.cancelled = true;
    },
  });
  const send = (text: string) => feed.enqueue(new TextEncoder().encode(text));
  first.forEach(send);
  return {
    response: new Response(body, { headers: { "Content-Type": "text/event-stream" } }),
    send,
    end: () => feed.close(),
    state,
  };
}
function whole(...events: string[]) {
  const stream = streamed(...events);
  stream.end();
  return stream.response;
}

const open = (
  answer: unknown,
  { rights = {}, more = {}, query = "" }: { rights?: object; more?: Answers; query?: string } = {},
) =>
  openPage(PATH + query, {
    "GET /console/api/pages/topic/c1/orders": {
      parts: {
        topic: ok(topic()),
        retention: ok({ as_of: null, run_id: null, data: [] }),
        messages: ok({ browse: true, produce: false, masked: false, ...rights }),
      },
    },
    [STREAM]: answer,
    ...more,
  });
const streams = (asked: { url: string }[]) => asked.filter((one) => one.url.startsWith("/console/events/messages"));

describe("messages of a topic", () => {
  it("shows the newest at once, with how far it looked and how it ended", async () => {
    const { asked } = await open(() =>
      whole(
        event("message", message(8)),
        event("message", message(7)),
        event("progress", progress),
        event("done", done()),
      ),
    );
    expect((await rowsOf("Messages")).map((row) => row.slice(0, 2))).toEqual([
      ["0", "8"],
      ["0", "7"],
    ]);
    expect(screen.getByText("There is nothing more.")).toBeTruthy();
    expect(screen.getByText(/of 1,234 looked at/)).toBeTruthy();
    expect(streams(asked).map((one) => one.url)).toEqual(["/console/events/messages/c1/orders?limit=50"]);
    expect(screen.queryByRole("button", { name: "Next page" })).toBeNull();
  });

  it("asks for what the form says and keeps it in the address", async () => {
    const { asked, router } = await open(() => whole(event("done", done())));
    await screen.findByText("No messages here");
    fill("Value contains", "paid");
    fill("Expression", "offset > 3");
    press("Search");
    await waitFor(() => expect(streams(asked)).toHaveLength(2));
    expect(streams(asked)[1]?.url).toBe("/console/events/messages/c1/orders?value=paid&filter=offset+%3E+3&limit=50");
    expect(router.state.location.search).toMatchObject({ value: "paid", filter: "offset > 3" });
    press("Search");
    await waitFor(() => expect(streams(asked)).toHaveLength(3));
  });

  it("goes on with the next page, and searches on after a bound", async () => {
    const answers = [
      whole(event("message", message(8)), event("done", done({ ended_by: "limit", cursor: "abc" }))),
      whole(event("done", done({ ended_by: "records", cursor: "def" }))),
      whole(event("done", done())),
    ];
    const { asked } = await open(() => answers.shift());
    fireEvent.click(await screen.findByRole("button", { name: "Next page" }));
    expect(await screen.findByText("Nothing found so far")).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "Search on" }));
    await screen.findByText("No messages here");
    expect(streams(asked).map((one) => new URLSearchParams(one.url.split("?")[1]).get("cursor"))).toEqual([
      null,
      "abc",
      "def",
    ]);
  });

  it("follows what comes, newest on top, until it is cancelled", async () => {
    const stream = streamed(event("phase", { phase: "reading", partitions: [0], unavailable: [] }));
    await open(() => stream.response, { query: "?tail=true" });
    expect(await screen.findByText("Following what comes…")).toBeTruthy();
    stream.send(event("message", message(1)) + event("message", message(2)).slice(0, 20));
    await screen.findByText("value-1");
    stream.send(event("message", message(2)).slice(20) + event("progress", { ...progress, left_out: 7 }));
    await screen.findByText("value-2");
    expect((await rowsOf("Messages")).map((row) => row[1])).toEqual(["2", "1"]);
    stream.send(event("progress", { ...progress, left_out: 7, waits_for: [3, 5] }));
    expect(await screen.findByText(/Still waiting for partitions that bring nothing: 3, 5\./)).toBeTruthy();
    expect(screen.getByText("7 messages came too fast to be shown.")).toBeTruthy();
    press("Cancel");
    expect(await screen.findByText("Cancelled.")).toBeTruthy();
    expect(screen.getByText("value-2")).toBeTruthy();
  });

  it("shows hostile contents as text alone", async () => {
    const hostile = message(3, {
      key: part(HOSTILE),
      value: part(HOSTILE + "x".repeat(5_000), { truncated: true, size_bytes: 1_000_000 }),
      headers: [{ ...part(HOSTILE), name: "<img src=x onerror=alert(1)>" }],
    });
    await open(() => whole(event("message", hostile), event("done", done())));
    const table = await screen.findByRole("table", { name: "Messages" });
    expect(table.textContent).toContain('<script>alert("x")</script>⟨U+202E⟩gnp.exe␀␊');
    fireEvent.click(within(table).getByRole("button", { name: /offset 3/ }));
    const dialog = await screen.findByRole("dialog");
    expect(dialog.textContent).toContain("<img src=x onerror=alert(1)>");
    expect(document.body.textContent).not.toContain("\u202e");
    expect(document.querySelectorAll("script, img")).toHaveLength(0);
  });

  it("opens a message whole and in another format", async () => {
    const cut = message(3, { value: part("{}", { truncated: true, size_bytes: 1_000_000 }) });
    const { asked } = await open(() => whole(event("message", cut), event("done", done())), {
      more: {
        "GET /api/v1/clusters/c1/topics/orders/messages": {
          data: [message(3, { value: part('{"n":12345678901234567890}', { kind: "json" }) })],
          page: { next: null, has_more: false },
          reading: done(),
        },
      },
    });
    fireEvent.click(await screen.findByRole("button", { name: /offset 3/ }));
    fireEvent.click(await screen.findByRole("button", { name: "Load the whole message" }));
    expect(await screen.findByText(/"n": 12345678901234567890/)).toBeTruthy();
    const url = asked.find((one) => one.url.startsWith("/api/v1/clusters/c1/topics/orders/messages"))?.url;
    expect(url).toContain("offset=3");
    expect(url).toContain("partitions=0");
    expect(url).toContain("whole=true");
  });

  it("puts a fault at its field", async () => {
    await open(
      new Refusal(422, "Some fields are not valid", "In filter, at character 6: A value is expected.", {
        errors: [{ pointer: "/filter", code: "expression", detail: "In filter, at character 6: A value is expected." }],
      }),
      { query: "?filter=key%20%3D%3D" },
    );
    const field = await screen.findByLabelText("Expression");
    await waitFor(() => expect(field.getAttribute("aria-invalid")).toBe("true"));
    expect(screen.getByText("In filter, at character 6: A value is expected.")).toBeTruthy();
  });

  it("says what the stream said last, and what breaks off", async () => {
    const { asked } = await open(() =>
      whole(
        event("failed", {
          status: 503,
          code: "cluster-unreachable",
          title: "A part is away",
          detail: "unreachable: gone",
        }),
      ),
    );
    expect(await screen.findByText("unreachable: gone")).toBeTruthy();
    press("Try again");
    await waitFor(() => expect(streams(asked)).toHaveLength(2));
  });

  it("names partitions that were not read, and messages that could not be judged", async () => {
    await open(() => whole(event("done", done({ unavailable: [1], silent: [2, 3], filter_errors: 4 }))));
    expect(await screen.findByText(/without a leader: 1 partition 1/)).toBeTruthy();
    expect(screen.getByText(/no answer: 2 partitions 2, 3/)).toBeTruthy();
    expect(screen.getByText(/could not judge 4 messages/)).toBeTruthy();
  });

  it("shows who may not read messages why, and asks for none", async () => {
    const { asked } = await open(() => whole(), { rights: { browse: false } });
    expect(await screen.findByText("You may see this topic, and not its messages")).toBeTruthy();
    expect(streams(asked)).toEqual([]);
    expect(screen.queryByRole("button", { name: "Search" })).toBeNull();
  });

  it("says that masks hide something", async () => {
    const hidden = message(1, { value: part("•••", { masked: true, size_bytes: null }), masked: true });
    await open(() => whole(event("message", hidden), event("done", done())), { rights: { masked: true } });
    expect(await screen.findByText("masked")).toBeTruthy();
    expect(screen.getByText(/Masks of your tenant hide a part/)).toBeTruthy();
  });

  it("writes a message for whoever may, and says where it lies", async () => {
    const { asked } = await open(() => whole(event("done", done())), {
      rights: { produce: true },
      more: { "POST /api/v1/clusters/c1/topics/orders/messages": { partition: 1, offset: 1_234, timestamp_ms: 1 } },
    });
    fireEvent.click(await screen.findByRole("button", { name: "Write message" }));
    const dialog = within(await screen.findByRole("dialog"));
    fireEvent.change(dialog.getByLabelText("Key"), { target: { value: "k" } });
    fireEvent.change(dialog.getByLabelText("Value"), { target: { value: '{"a":1}' } });
    fireEvent.click(dialog.getByRole("button", { name: "Add header" }));
    fireEvent.change(dialog.getByLabelText("Header 1"), { target: { value: "region" } });
    fireEvent.change(dialog.getByLabelText("Value of header 1"), { target: { value: "eu" } });
    fireEvent.click(dialog.getByRole("button", { name: "Write message" }));
    expect(await screen.findByText("Written to partition 1 at offset 1,234.")).toBeTruthy();
    expect(asked.find((one) => one.method === "POST")?.body).toEqual({
      partition: null,
      key: { format: "string", text: "k" },
      value: { format: "json", text: '{"a":1}' },
      headers: [{ name: "region", value: { format: "string", text: "eu" } }],
    });
  });

  it("says that a late answer is unknown, and offers no writing to whoever may not", async () => {
    await open(() => whole(event("done", done())), {
      rights: { produce: true },
      more: {
        "POST /api/v1/clusters/c1/topics/orders/messages": new Refusal(
          504,
          "Whether it was written is not known",
          "Late.",
          {
            code: "outcome-unknown",
          },
        ),
      },
    });
    fireEvent.click(await screen.findByRole("button", { name: "Write message" }));
    const dialog = within(await screen.findByRole("dialog"));
    fireEvent.click(dialog.getByRole("button", { name: "Write message" }));
    expect(await dialog.findByText(/look at the end of the topic before you send it again/)).toBeTruthy();
    expect(dialog.getByRole("button", { name: "Write it once more" })).toBeTruthy();
  });

  it("offers no writing to whoever may not write", async () => {
    await open(() => whole(event("done", done())));
    await screen.findByText("No messages here");
    expect(screen.queryByRole("button", { name: "Write message" })).toBeNull();
  });

  it("exports by the same filters", async () => {
    vi.stubGlobal("URL", Object.assign(URL, { createObjectURL: () => "blob:x", revokeObjectURL: () => undefined }));
    const { asked } = await open(() => whole(event("done", done())), {
      query: "?value=paid&tail=true",
      more: {
        "GET /api/v1/clusters/c1/topics/orders/messages/export": () =>
          new Response("a", { headers: { "X-Penstock-Export-Complete": "false" } }),
      },
    });
    fireEvent.click(await screen.findByRole("button", { name: "Export" }));
    fireEvent.click(await screen.findByRole("menuitem", { name: "CSV" }));
    expect(await screen.findByText(/does not hold all that was asked for/)).toBeTruthy();
    expect(asked.find((one) => one.url.includes("/export"))?.url).toBe(
      "/api/v1/clusters/c1/topics/orders/messages/export?value=paid&format=csv&records=10000",
    );
  });

  const phase = (more: Partial<MessageEvents["phase"]> = {}): MessageEvents["phase"] => ({
    phase: "reading",
    partitions: [0],
    unavailable: [],
    masked: false,
    held_back: [],
    ...more,
  });

  it("says that masks hide something as soon as they do, in the middle of a tail", async () => {
    const stream = streamed(event("phase", phase()), event("message", message(1)));
    await open(() => stream.response, { query: "?tail=true" });
    await rowsOf("Messages");
    expect(screen.queryByText(/Masks of your tenant hide/)).toBeNull();
    stream.send(event("phase", phase({ masked: true })));
    expect(await screen.findByText(/Masks of your tenant hide/)).toBeTruthy();
    stream.end();
  });

  it("says what is read of transactions, and what an open one holds back", async () => {
    const held = [{ partition: 3, last_stable_offset: 40, end_offset: 1_042 }];
    const { asked } = await open(() => whole(event("phase", phase({ held_back: held })), event("done", done())), {
      query: "?isolation=read_committed",
    });
    expect(await screen.findByText("An open transaction holds back 1,002 offsets")).toBeTruthy();
    expect(screen.getByText(/first in partition 3 from its last stable offset 40 to its end 1,042/)).toBeTruthy();
    expect(streams(asked)[0]?.url).toContain("isolation=read_committed");
    expect(screen.queryByText(/that are open or were aborted are among these/)).toBeNull();
  });

  it("says by default that records of aborted transactions are among them", async () => {
    await open(() => whole(event("phase", phase()), event("done", done())));
    expect(await screen.findByText(/that are open or were aborted are among these/)).toBeTruthy();
  });

  it("counts further headers, and leads to the registry where bytes want a schema", async () => {
    const found = message(5, {
      value: part("00000000070a01", { kind: "hex", size_bytes: 7 }),
      headers: [],
      headers_left_out: 1_999_900,
    });
    await open(() => whole(event("message", found), event("done", done())));
    fireEvent.click(await screen.findByRole("button", { name: /Open the message at offset 5/ }));
    const dialog = within(await screen.findByRole("dialog"));
    expect(dialog.getByText("1,999,900 further headers are not shown.")).toBeTruthy();
    expect(dialog.getByRole("button", { name: "Load the whole message" })).toBeTruthy();
    expect(dialog.getByRole("link", { name: /schema registry of this cluster/ }).getAttribute("href")).toBe(
      "/clusters/c1/schema-registry",
    );
  });
});
