/** Server-sent events with polling as the fallback: `live` is false while the stream is down. */
import { useEffect, useRef, useState } from "react";

/** After this many errors in a row the browser's own retry is given up, ms between ours. */
const RETRY_MS = 5_000;

/** What to do with the data of each event, by its name. `E` is a stream as the OpenAPI document has it. */
export type Handlers<E extends object> = { [N in keyof E]: (data: E[N]) => void };

/** Listens to the events that have a handler; without an address it opens nothing. */
export function useEvents<E extends object>(url: string | null, handlers: Handlers<E>): boolean {
  const [live, setLive] = useState(false);
  const handler = useRef(handlers);
  useEffect(() => {
    handler.current = handlers;
  });
  const joined = Object.keys(handlers).join(",");
  useEffect(() => {
    if (url === null || typeof EventSource === "undefined") return undefined;
    let source: EventSource | null = null;
    let timer: number | undefined;
    const open = () => {
      const stream = new EventSource(url);
      source = stream;
      stream.onopen = () => setLive(true);
      stream.onerror = () => {
        setLive(false);
        if (stream.readyState === EventSource.CLOSED) timer = window.setTimeout(open, RETRY_MS);
      };
      for (const name of joined.split(",")) {
        stream.addEventListener(name, (event) => {
          const data = JSON.parse((event as MessageEvent<string>).data) as E[keyof E];
          handler.current[name as keyof E](data);
        });
      }
    };
    open();
    return () => {
      window.clearTimeout(timer);
      source?.close();
      setLive(false);
    };
  }, [url, joined]);
  return live;
}
