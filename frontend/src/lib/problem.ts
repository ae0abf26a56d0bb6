/** Errors as the REST API speaks them: RFC 9457 problem+json, plus what the network can do to us. */

import type { components } from "@/generated/api";

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

/** The server's last word about a page that never loaded: not there (404) or not for this person (403). */
export function isRefusal({ data, error }: { data: unknown; error: unknown }): boolean {
  return data === undefined && error instanceof ApiError && [403, 404].includes(error.status);
}

/** The write named a version that is no more: somebody else has changed it. */
export const isOutdated = (error: unknown): boolean => error instanceof ApiError && error.status === 412;

/** Any thrown thing as a problem that a panel can show. */
export function toProblem(error: unknown): Problem {
  if (error instanceof ApiError) return error.problem;
  if (error instanceof DOMException && error.name === "AbortError") {
    return { title: "Request cancelled", status: 0 };
  }
  if (error instanceof TypeError) {
    return {
      title: "The console could not reach its server",
      status: 0,
      detail: "The request did not get an answer. Check the connection; nothing is known about its outcome.",
      retryable: true,
    };
  }
  return { title: "Unexpected error in the console", status: 0, detail: String(error) };
}
