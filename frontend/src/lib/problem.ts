/** Errors as the REST API speaks them: RFC 9457 problem+json, plus what the network can do to us. */

import type { components } from "@/generated/api";
import { words } from "@/words";

type Whole = components["schemas"]["Problem"];

/** A problem as the server reports it, or as much of one as is known when no server answered. */
export type Problem = Pick<Whole, "title" | "status"> & Partial<Whole>;

export class ApiError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail ?? problem.title);
    this.name = "ApiError";
    this.problem = problem;
  }

  get status(): number {
    return this.problem.status;
  }

  /** The last path segment of `type`, or `code`: what code compares against. */
  get code(): string {
    return this.problem.code ?? this.problem.type?.split(/[/:#]/).pop() ?? "";
  }
}

/**
 * The server's last word: it is not there (404) or not for this person (403). What was shown before does not count
 * against it: a topic that was deleted is gone, a right that was taken is over.
 */
export function isRefusal({ error }: { data?: unknown; error: unknown }): boolean {
  return error instanceof ApiError && [403, 404].includes(error.status);
}

/** The write named a version that is no more: somebody else has changed it. */
export const isOutdated = (error: unknown): boolean => error instanceof ApiError && error.status === 412;

/** Any thrown thing as a problem that a panel can show. */
export function toProblem(error: unknown): Problem {
  if (error instanceof ApiError) return error.problem;
  if (error instanceof DOMException && error.name === "AbortError") {
    return { title: words.common.errors.cancelled, status: 0 };
  }
  if (error instanceof TypeError) {
    return {
      title: words.common.errors.unreachable,
      status: 0,
      detail: words.common.errors.unreachableWhy,
      retryable: true,
    };
  }
  return { title: words.common.errors.unexpected, status: 0, detail: String(error) };
}

/** Fields at fault by their path below `/inputs`, each with its sentences: `configs/retention.ms`. */
export type FieldProblems = Record<string, string>;

/** What a refusal says of single fields; empty where it is about none. */
export function fieldProblems(error: unknown): FieldProblems {
  const found: FieldProblems = {};
  if (!(error instanceof ApiError)) return found;
  for (const { pointer, detail } of error.problem.errors ?? []) {
    const path = pathOf(pointer).replace(/^inputs\//, "");
    if (path) found[path] = [found[path], detail].filter(Boolean).join(" ");
  }
  return found;
}

/** A JSON pointer as a path without its escapes; a slash within a name stays one. */
export function pathOf(pointer: string): string {
  return pointer.replace(/^\//, "").replaceAll("~1", "/").replaceAll("~0", "~");
}
