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
    await api.post("/console/api/tenant", { body: { slug: "acme" } });
    expect(sent()[1]).toMatchObject({
      method: "POST",
      body: '{"slug":"acme"}',
      headers: { "X-CSRFToken": "token-7", "Content-Type": "application/json" },
    });
    expect(sent()[1].headers).not.toHaveProperty("Idempotency-Key");
  });

  const account = (name: string) => api.post("/api/v1/service-accounts", { body: { name } });
  const keyOf = () => sent()[1].headers["Idempotency-Key"];

  it("have a key of their own where they make something", async () => {
    const keys = [];
    for (const name of ["a", "a", "b"]) {
      answer("{}", { status: 201 });
      await account(name);
      keys.push(keyOf());
    }
    expect(new Set(keys).size).toBe(3);
    for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/);
    answer("{}", { status: 202 });
    await api.post("/api/v1/operations", { body: { plan_id: "p", plan_hash: "h" }, idempotencyKey: "key-1" });
    expect(keyOf()).toBe("key-1");
  });

  it("keep their key while it is not known what came of them", async () => {
    vi.stubGlobal(
      "fetch",
      vi.fn(() => Promise.reject(new TypeError("no answer"))),
    );
    await expect(account("lost")).rejects.toThrow("no answer");
    const key = keyOf();
    answer('{"title":"Away","status":503}', { status: 503, headers: { "Content-Type": "application/problem+json" } });
    await failure(account("lost"));
    expect(keyOf()).toBe(key);
    answer("{}", { status: 201 });
    await account("other");
    expect(keyOf()).not.toBe(key);
    answer("{}", { status: 201 });
    await account("lost");
    expect(keyOf()).toBe(key);
    answer("{}", { status: 201 });
    await account("lost");
    expect(keyOf()).not.toBe(key);
  });

  it("forget the key of what was refused, and after a while of what had no answer", async () => {
    answer('{"title":"Taken","status":409}', { status: 409, headers: { "Content-Type": "application/problem+json" } });
    await failure(account("taken"));
    const refused = keyOf();
    vi.useFakeTimers();
    try {
      vi.stubGlobal(
        "fetch",
        vi.fn(() => Promise.reject(new TypeError("no answer"))),
      );
      await expect(account("taken")).rejects.toThrow();
      const lost = keyOf();
      expect(lost).not.toBe(refused);
      vi.advanceTimersByTime(5 * 60_000 + 1);
      answer("{}", { status: 201 });
      await account("taken");
      expect(keyOf()).not.toBe(lost);
    } finally {
      vi.useRealTimers();
    }
  });

  it("name the version that was read where they change something", async () => {
    answer("{}", { status: 200 });
    await api.put("/api/v1/members/{username}", {
      blanks: { username: "a" },
      body: { role: "viewer" },
      ifMatch: '"1"',
    });
    expect(sent()[1].headers["If-Match"]).toBe('"1"');
    answer(null, { status: 204 });
    await api.delete("/api/v1/api-keys/{key_id}", { blanks: { key_id: "k" } });
    expect(sent()[1].headers).not.toHaveProperty("If-Match");
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
