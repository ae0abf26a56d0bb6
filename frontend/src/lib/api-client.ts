/** The one client of the server: JSON in, JSON out, CSRF on writes, problem+json as ApiError. */
import { type AddressOf, type AnswerOf, asked, type BlanksOf, type BodyOf, filled, type QueryOf } from "./addresses";
import { ApiError, type Problem } from "./problem";

type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

interface Options {
  body?: unknown;
  /** Same key, same outcome: a retried POST creates nothing twice. */
  idempotencyKey?: string;
  /** The `etag` of what was read: refused with 412 when somebody else has changed it since. */
  ifMatch?: string;
  /** The tag of what is known already: the answer may be that it is still so. */
  ifNoneMatch?: string;
  signal?: AbortSignal;
}

/** Longest wait for an answer, ms. The server's own part deadlines are shorter. */
const DEADLINE_MS = 30_000;
/** Longest wait for the whole of a file, ms. */
const FILE_DEADLINE_MS = 300_000;
/** Longest that a stream of events is listened to, ms; the server ends its own before. */
const STREAM_DEADLINE_MS = 660_000;

/** A 401 of these is about the login that was tried. */
const OPENS_SESSIONS = ["/console/api/login", "/console/api/session", "/console/api/invitation"];

let csrfToken = "";
let onSignedOut: () => void = () => undefined;

export function setCsrfToken(token: string): void {
  csrfToken = token;
}

/** Called when any request finds that the session is gone. */
export function setSignedOutHandler(handler: () => void): void {
  onSignedOut = handler;
}

export async function request<T>(method: Method, path: string, options: Options = {}): Promise<T> {
  const response = await answered(method, path, options, DEADLINE_MS);
  if (response.status === 204) return undefined as T;
  return (await response.json()) as T;
}

/** A read of what has a tag: its body, or that it is as it was known, and the header that says how old it is by now. */
export async function readChanged<T>(
  path: string,
  options: Pick<Options, "ifNoneMatch" | "signal">,
): Promise<{ body: T; tag: string | undefined } | { body: undefined; tag: string | undefined; ages: string }> {
  const response = await answered("GET", path, options, DEADLINE_MS);
  const tag = response.headers.get("ETag") ?? undefined;
  if (response.status === 304) return { body: undefined, tag, ages: response.headers.get("Penstock-As-Of") ?? "" };
  return { body: (await response.json()) as T, tag };
}

/** The answer when it is good; throws ApiError otherwise. */
async function answered(method: Method, path: string, options: Options, deadlineMs: number): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json, application/problem+json" };
  if (method !== "GET") headers["X-CSRFToken"] = csrfToken;
  if (options.body !== undefined) headers["Content-Type"] = "application/json";
  if (options.idempotencyKey) headers["Idempotency-Key"] = options.idempotencyKey;
  if (options.ifMatch) headers["If-Match"] = options.ifMatch;
  if (options.ifNoneMatch) headers["If-None-Match"] = options.ifNoneMatch;
  const deadline = AbortSignal.timeout(deadlineMs);
  const response = await fetch(path, {
    method,
    headers,
    credentials: "same-origin",
    body: options.body === undefined ? undefined : JSON.stringify(options.body),
    signal: options.signal ? AbortSignal.any([options.signal, deadline]) : deadline,
  });
  if (response.ok || (response.status === 304 && options.ifNoneMatch)) return response;
  const problem = await readProblem(response);
  if (problem.status === 401 && !OPENS_SESSIONS.some((prefix) => path.startsWith(prefix))) onSignedOut();
  throw new ApiError(problem);
}

/** How long a POST without an answer keeps its key for the same request, ms; how many do. */
const UNSETTLED_MS = 5 * 60_000;
const UNSETTLED_MAX = 50;
const unsettled = new Map<string, { key: string; until: number }>();

/** Each POST of the API has a key. One whose outcome is not known keeps it: sent again, it is carried out once. */
async function postOnce<T>(path: string, { body, idempotencyKey, ifMatch }: Options): Promise<T> {
  if (!path.startsWith("/api/v1/")) return request<T>("POST", path, { body });
  const text = JSON.stringify(body);
  const asked = `${path} ${text.length} ${fingerprint(text)}`;
  const known = unsettled.get(asked);
  const key = idempotencyKey ?? (known && known.until > Date.now() ? known.key : newKey());
  unsettled.delete(asked);
  try {
    return await request<T>("POST", path, { body, idempotencyKey: key, ifMatch });
  } catch (error) {
    const isSettled = error instanceof ApiError && error.status < 500 && error.code !== "in-progress";
    if (!isSettled) {
      const oldest = unsettled.keys().next();
      if (unsettled.size >= UNSETTLED_MAX && !oldest.done) unsettled.delete(oldest.value);
      unsettled.set(asked, { key, until: Date.now() + UNSETTLED_MS });
    }
    throw error;
  }
}

/** 128 random bits, hex. `randomUUID` is missing where the console is served without TLS. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

async function readProblem(response: Response): Promise<Problem> {
  const fallback: Problem = {
    title: response.statusText || `HTTP ${response.status}`,
    status: response.status,
    request_id: response.headers.get("X-Request-ID") ?? undefined,
  };
  if (!response.headers.get("Content-Type")?.includes("json")) return fallback;
  try {
    const body = (await response.json()) as Partial<Problem>;
    return { ...fallback, ...body, status: response.status };
  } catch {
    return fallback;
  }
}

/** The answer of a stream of events, whose body comes bit by bit; throws ApiError when it is refused. */
export const opened = (path: string, signal: AbortSignal): Promise<Response> =>
  answered("GET", path, { signal }, STREAM_DEADLINE_MS);

type Blanks<B> = keyof B extends never ? { blanks?: never } : { blanks: B };
type GetOptions<A extends AddressOf<"get">> = Blanks<BlanksOf<"get", A>> &
  Pick<Options, "signal"> & { query?: QueryOf<A> };
type PutOptions<A extends AddressOf<"put">> = Blanks<BlanksOf<"put", A>> &
  Pick<Options, "ifMatch"> & { body: BodyOf<A, "put"> };
type DeleteOptions<A extends AddressOf<"delete">> = Blanks<BlanksOf<"delete", A>> & Pick<Options, "ifMatch">;
type PostOptions<A extends AddressOf<"post">> = Blanks<BlanksOf<"post", A>> &
  Pick<Options, "idempotencyKey" | "ifMatch"> &
  (BodyOf<A> extends undefined ? { body?: never } : { body: BodyOf<A> });

/** Reads and writes by the document's addresses: bodies and answers have the types that it gives them. */
export const api = {
  get: <A extends AddressOf<"get">>(address: A, { blanks, query, signal }: GetOptions<A>) =>
    request<AnswerOf<"get", A>>("GET", filled(address, blanks) + asked(query), { signal }),
  /** A file, and the headers that say what it is. */
  download: async <A extends AddressOf<"get">>(address: A, { blanks, query, signal }: GetOptions<A>) => {
    const response = await answered("GET", filled(address, blanks) + asked(query), { signal }, FILE_DEADLINE_MS);
    return { blob: await response.blob(), headers: response.headers };
  },
  post: <A extends AddressOf<"post">>(address: A, { blanks, body, idempotencyKey, ifMatch }: PostOptions<A>) =>
    postOnce<AnswerOf<"post", A>>(filled(address, blanks), { body: body ?? {}, idempotencyKey, ifMatch }),
  put: <A extends AddressOf<"put">>(address: A, { blanks, body, ifMatch }: PutOptions<A>) =>
    request<AnswerOf<"put", A>>("PUT", filled(address, blanks), { body, ifMatch }),
  delete: <A extends AddressOf<"delete">>(address: A, { blanks, ifMatch }: DeleteOptions<A>) =>
    request<AnswerOf<"delete", A>>("DELETE", filled(address, blanks), { ifMatch }),
};

/** A short stable fingerprint (FNV-1a, 32 bits) of a body, for idempotency keys; no secret depends on it. */
export function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, "0");
}
