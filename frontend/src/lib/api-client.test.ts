import { afterEach, describe, expect, it, vi } from "vitest";
import { api, fingerprint, request, setCsrfToken, setSignedOutHandler } from "./api-client";
import { ApiError } from "./problem";

const answer = (body: string | null, init: ResponseInit) =>
  vi.stubGlobal(
    "fetch",
    vi.fn(() => Promise.resolve(new Response(body, init))),
  );
const sent = () => vi.mocked(fetch).mock.calls[0] as [string, RequestInit & { headers: Record<string, string> }];
const failure = async (promise: Promise<unknown>): Promise<ApiError> => {
  const error: unknown = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
};

describe("requests", () => {
  afterEach(() => setSignedOutHandler(() => undefined));

  it("carry the CSRF token where they write, and only there", async () => {
    setCsrfToken("token-7");
    answer("{}", { status: 200 });
    await api.get("/console/api/session", {});
    expect(sent()[1].headers).not.toHaveProperty("X-CSRFToken");
    answer("{}", { status: 200 });
    await api.post("/console/api/tenant", { body: { slug: "acme" }, idempotencyKey: "key-1" });
    expect(sent()[1]).toMatchObject({
      method: "POST",
      body: '{"slug":"acme"}',
      headers: { "X-CSRFToken": "token-7", "Idempotency-Key": "key-1", "Content-Type": "application/json" },
    });
  });

  it("give the body, or nothing where there is none", async () => {
    answer('{"x":1}', { status: 200 });
    expect(await request("GET", "/a")).toEqual({ x: 1 });
    answer(null, { status: 204 });
    expect(await request("DELETE", "/a")).toBeUndefined();
  });

  it("go to the address with its blanks filled, and its query where there is one", async () => {
    answer("{}", { status: 200 });
    await api.get("/api/v1/clusters/{cluster_id}", { blanks: { cluster_id: "a/b" } });
    expect(sent()[0]).toBe("/api/v1/clusters/a%2Fb");
    answer("{}", { status: 200 });
    await api.get("/api/v1/audit-events", { query: { page_size: 100, cursor: undefined } });
    expect(sent()[0]).toBe("/api/v1/audit-events?page_size=100");
    answer("{}", { status: 200 });
    await api.get("/api/v1/audit-events", { query: { cursor: "a&b=c" } });
    expect(sent()[0]).toBe("/api/v1/audit-events?cursor=a%26b%3Dc");
  });

  it("send an empty body where an address takes none", async () => {
    answer("{}", { status: 200 });
    await api.post("/api/v1/operations/{operation_id}/cancellation", { blanks: { operation_id: "op_1" } });
    expect(sent()).toMatchObject(["/api/v1/operations/op_1/cancellation", { method: "POST", body: "{}" }]);
  });

  it("fail with the server's problem", async () => {
    answer('{"title":"Taken","detail":"By op_1","code":"taken","status":1}', {
      status: 409,
      headers: { "Content-Type": "application/problem+json" },
    });
    const error = await failure(request("POST", "/a"));
    expect([error.status, error.code, error.message]).toEqual([409, "taken", "By op_1"]);
  });

  it.each([
    ["<html>", { "Content-Type": "text/html" }],
    ["{", { "Content-Type": "application/json" }],
  ])("fail with the status and the request id where %j is no problem", async (body, headers) => {
    answer(body, { status: 502, statusText: "Bad Gateway", headers: { ...headers, "X-Request-ID": "rq_9" } });
    expect((await failure(request("GET", "/a"))).problem).toEqual({
      title: "Bad Gateway",
      status: 502,
      request_id: "rq_9",
    });
  });

  it("say that the session is gone, except the session's own", async () => {
    const gone = vi.fn();
    setSignedOutHandler(gone);
    answer("", { status: 401 });
    await failure(request("GET", "/console/api/session"));
    expect(gone).not.toHaveBeenCalled();
    await failure(request("GET", "/api/v1/me"));
    expect(gone).toHaveBeenCalledOnce();
  });

  it("have the same fingerprint for the same body, and another for another", () => {
    expect(fingerprint("")).toBe("811c9dc5");
    expect(fingerprint("a")).toBe("e40c292c");
    expect(fingerprint("b")).not.toBe(fingerprint("a"));
  });
});
