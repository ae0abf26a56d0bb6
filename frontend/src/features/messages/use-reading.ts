import { useCallback, useEffect, useReducer, useRef } from "react";
import { opened } from "@/lib/api-client";
import { eachEvent } from "@/lib/event-text";
import { ApiError } from "@/lib/problem";
import { type Frame, IDLE, read } from "./reading";

/** Reads one stream at a time: a new one, or leaving the page, cancels the one before. */
export function useReading() {
  const [reading, tell] = useReducer(read, IDLE);
  const current = useRef<AbortController | null>(null);

  const cancel = useCallback(() => {
    current.current?.abort();
    current.current = null;
    tell({ kind: "cancel" });
  }, []);

  const begin = useCallback((url: string, tail: boolean) => {
    current.current?.abort();
    const controller = new AbortController();
    current.current = controller;
    const isCurrent = () => current.current === controller;
    tell({ kind: "begin" });
    void (async () => {
      try {
        const response = await opened(url, controller.signal);
        if (!response.body) throw new TypeError("an answer without a body");
        let ended = false;
        await eachEvent(response.body, (events) => {
          if (!isCurrent()) return;
          const frames = events.map(({ name, data }) => ({ name, data: JSON.parse(data) as unknown }) as Frame);
          ended ||= frames.some(({ name }) => name === "done" || name === "failed");
          tell({ kind: "events", events: frames, tail });
        });
        if (isCurrent() && !ended) tell({ kind: "fail", error: new TypeError("the stream broke off") });
      } catch (error) {
        if (isCurrent()) tell({ kind: "fail", error });
      }
    })();
  }, []);

  useEffect(() => () => current.current?.abort(), []);
  return { reading, begin, cancel };
}

/** What a stream says at its end, as the errors of answers are. */
export const asError = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "title" in error && "status" in error && !(error instanceof Error)
    ? new ApiError(error as ApiError["problem"])
    : error;
