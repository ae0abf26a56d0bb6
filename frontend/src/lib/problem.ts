/** Errors as the REST API speaks them: RFC 9457 problem+json, plus what the network can do to us. */

export interface FieldError {
  pointer?: string;
  field?: string;
  code?: string;
  detail: string;
}

export interface Problem {
  type?: string;
  title: string;
  status: number;
  detail?: string;
  code?: string;
  errors?: FieldError[];
  request_id?: string;
  runbook_url?: string;
  retryable?: boolean;
}

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

/** Field errors keyed by their last pointer segment, for forms. */
export function fieldErrors(problem: Problem): Record<string, string> {
  const found: Record<string, string> = {};
  for (const error of problem.errors ?? []) {
    const name = (error.pointer ?? error.field ?? "").replace(/^#/, "").split("/").filter(Boolean).pop();
    if (name) found[name] = error.detail;
  }
  return found;
}
