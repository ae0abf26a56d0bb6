/** A reading as it comes in: what was found, how far it is, how it ended. */
import type { Message, MessageEvents } from "@/lib/types";
import { words } from "@/words/messages";

/** Messages that a browser keeps of a live tail; the oldest go first. */
export const KEPT_MAX = 500;

export type Failure = MessageEvents["failed"];
export type Done = MessageEvents["done"];

export interface Reading {
  status: "idle" | "connecting" | "reading" | "done" | "failed" | "cancelled";
  messages: Message[];
  progress: MessageEvents["progress"] | null;
  done: Done | null;
  /** Thrown, or the stream's own last event. */
  error: unknown;
  /** Of a tail: what was shown and is not kept. */
  gone: number;
  /** Whether masks hide something of what comes by now; null until the service has said so. */
  masked: boolean | null;
  /** What open transactions keep from a reader of committed records. */
  heldBack: Done["held_back"];
}

export const IDLE: Reading = {
  status: "idle",
  messages: [],
  progress: null,
  done: null,
  error: null,
  gone: 0,
  masked: null,
  heldBack: [],
};

export type Step =
  | { kind: "begin" }
  | { kind: "events"; events: ReadonlyArray<Frame>; tail: boolean }
  | { kind: "fail"; error: unknown }
  | { kind: "cancel" };

/** An event with its data, by its name. */
export type Frame = { [N in keyof MessageEvents]: { name: N; data: MessageEvents[N] } }[keyof MessageEvents];

export function read(reading: Reading, step: Step): Reading {
  switch (step.kind) {
    case "begin":
      return { ...IDLE, status: "connecting" };
    case "fail":
      return { ...reading, status: "failed", error: step.error };
    case "cancel":
      return isUnderWay(reading) ? { ...reading, status: "cancelled" } : reading;
    case "events":
      return step.events.reduce((found, event) => told(found, event, step.tail), {
        ...reading,
        messages: [...reading.messages],
      });
  }
}

function told(reading: Reading, event: Frame, tail: boolean): Reading {
  switch (event.name) {
    case "phase":
      return {
        ...reading,
        status: event.data.phase,
        masked: event.data.masked,
        heldBack: event.data.held_back,
      };
    case "message": {
      // A tail is read from its top; what is not kept any more is counted.
      if (!tail) reading.messages.push(event.data);
      else reading.messages.unshift(event.data);
      const over = Math.max(0, reading.messages.length - KEPT_MAX);
      if (over > 0) reading.messages.length = KEPT_MAX;
      return { ...reading, gone: reading.gone + over };
    }
    case "progress":
      return { ...reading, progress: event.data };
    case "done":
      return { ...reading, status: "done", progress: event.data, done: event.data };
    case "failed":
      return { ...reading, status: "failed", error: event.data };
  }
}

export const isUnderWay = ({ status }: Reading): boolean => status === "connecting" || status === "reading";

export const endingOf = (done: Done): string => words.endings[done.ended_by];
