/** Server-sent events out of a body that comes bit by bit. */

export interface ServerEvent {
  name: string;
  data: string;
}

/** The events that are whole now, and the text that begins the next one. */
export function wholeEvents(text: string): { events: ServerEvent[]; rest: string } {
  const blocks = text.split("\n\n");
  const rest = blocks.pop() ?? "";
  const events = blocks.flatMap((block) => {
    let name = "message";
    const data: string[] = [];
    for (const line of block.split("\n")) {
      if (line.startsWith("event: ")) name = line.slice(7);
      else if (line.startsWith("data: ")) data.push(line.slice(6));
    }
    return data.length > 0 ? [{ name, data: data.join("\n") }] : [];
  });
  return { events, rest };
}

/** Calls back with each event until the body ends or the signal aborts it. */
export async function eachEvent(
  body: ReadableStream<Uint8Array>,
  onEvents: (events: ServerEvent[]) => void,
): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const found = wholeEvents(rest + decoder.decode(value, { stream: true }));
    rest = found.rest;
    if (found.events.length > 0) onEvents(found.events);
  }
}
