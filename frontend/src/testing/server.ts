/** A server for tests: answers by method and path, and remembers what it was asked. */
import { vi } from "vitest";

export interface Asked {
  method: string;
  url: string;
  body: unknown;
  ifMatch?: string;
}

/** An answer that is a problem. It says so itself: a page in another language is opened over modules that are loaded
 * afresh, whose class of this name is another. */
export class Refusal {
  readonly isRefusal = true;
  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string = title,
    readonly more: Record<string, unknown> = {},
  ) {}
}

/** An answer that never comes. */
export const PENDING = Symbol.for("penstock-test-pending");

/** By "GET /path" without the query; a function is asked each time. */
export type Answers = Record<string, unknown>;

/** Sentences that tests' servers wrote, as JSON. */
const written: string[] = [];
/** Shorter texts may be there by chance. */
const SENTENCE_CHARS_MIN = 20;

/** Whether a text is the server's own sentence, which the console shows as it is. */
export function isOfServer(text: string): boolean {
  if (text.length < SENTENCE_CHARS_MIN) return false;
  const quoted = JSON.stringify(text).slice(1, -1);
  return written.some((body) => body.includes(quoted));
}

const answer = (status: number, body: unknown, type: string) => {
  const text = JSON.stringify(body);
  written.push(text);
  return new Response(text, { status, headers: { "Content-Type": type } });
};

const isRefusal = (found: unknown): found is Refusal =>
  typeof found === "object" && found !== null && "isRefusal" in found;

function respond(found: unknown, asked: Asked): Response | Promise<Response> {
  if (found === PENDING) return new Promise(() => undefined);
  if (found instanceof Promise) return found.then((later: unknown) => respond(later, asked));
  if (typeof found === "function") return respond((found as (asked: Asked) => unknown)(asked), asked);
  if (found instanceof Response) return found;
  if (!isRefusal(found)) return answer(200, found, "application/json");
  const { status, title, detail, more } = found;
  return answer(status, { title, status, detail, request_id: "rq_test", ...more }, "application/problem+json");
}

/** Takes the place of `fetch`. What is asked for without an answer here is refused in words that name it. */
export function serve(answers: Answers): Asked[] {
  const all: Asked[] = [];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit = {}) => {
    const asked: Asked = {
      method: init.method ?? "GET",
      url,
      body: init.body ? (JSON.parse(String(init.body)) as unknown) : undefined,
      ifMatch: new Headers(init.headers).get("If-Match") ?? undefined,
    };
    all.push(asked);
    const name = `${asked.method} ${url.split("?")[0]}`;
    return respond(name in answers ? answers[name] : new Refusal(404, `The test has no answer for ${name}`), asked);
  });
  return all;
}

const AS_OF = "2026-11-21T10:00:00Z";

/** Parts of a page in each of their states. */
export const ok = <T>(data: T) => ({ status: "ok", as_of: AS_OF, reason: null, data }) as const;
export const stale = <T>(data: T, reason: string) => ({ status: "stale", as_of: AS_OF, reason, data }) as const;
export const unavailable = (reason: string) => ({ status: "unavailable", as_of: null, reason, data: null }) as const;
