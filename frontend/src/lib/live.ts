/** Server-sent events with polling as the fallback: `live` is false while the stream is down. */
import { useEffect, useRef, useState } from "react";

/** After this many errors in a row the browser's own retry is given up, ms between ours. */
const RETRY_MS = 5_000;

export function useEvents(
  url: string | null,
  onEvent: (name: string, data: unknown) => void,
  names: string[],
): boolean {
  const [live, setLive] = useState(false);
  const handler = useRef(onEvent);
  useEffect(() => {
    handler.current = onEvent;
  });
  const joined = names.join(",");
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
          handler.current(name, JSON.parse((event as MessageEvent<string>).data));
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
