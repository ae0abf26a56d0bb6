import { describe, expect, it } from "vitest";
import { eachEvent, type ServerEvent, wholeEvents } from "./event-text";

describe("server-sent events", () => {
  it("gives the events that are whole and keeps the rest", () => {
    expect(wholeEvents(': open\n\nevent: a\ndata: {"x":1}\n\nevent: b\nda')).toEqual({
      events: [{ name: "a", data: '{"x":1}' }],
      rest: "event: b\nda",
    });
  });

  it("puts together what comes in pieces, in the middle of a character too", async () => {
    const bytes = new TextEncoder().encode("event: a\ndata: grün\n\nevent: b\ndata: 2\n\n");
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let index = 0; index < bytes.length; index += 1) controller.enqueue(bytes.slice(index, index + 1));
        controller.close();
      },
    });
    const found: ServerEvent[] = [];
    await eachEvent(body, (events) => found.push(...events));
    expect(found).toEqual([
      { name: "a", data: "grün" },
      { name: "b", data: "2" },
    ]);
  });
});
