import { type Query, QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, describe, expect, it } from "vitest";
import { staleSince } from "./freshness";
import { ApiError } from "./problem";

const KEY = ["page", "overview"];
const watched: (() => void)[] = [];

/** A query that is looked at, with data of so long ago. */
function shown(options: { agoMs?: number; pace?: number | false; failing?: boolean | Error; hasData?: boolean } = {}) {
  const { agoMs = 0, pace = 10_000, failing = false, hasData = true } = options;
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const now = Date.now();
  if (hasData) client.setQueryData(KEY, "there", { updatedAt: now - agoMs });
  const observer = new QueryObserver(client, {
    queryKey: KEY,
    queryFn: () => (failing ? Promise.reject(failing === true ? new Error("away") : failing) : Promise.resolve("new")),
    refetchInterval: pace,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnMount: false,
  });
  watched.push(observer.subscribe(() => undefined));
  const query = client.getQueryCache().find({ queryKey: KEY }) as Query;
  return { client, now, query };
}

afterEach(() => watched.splice(0).forEach((stop) => stop()));

describe("since when a page is stale", () => {
  it("is never while its reads are answered", () => {
    const { query, now } = shown({ agoMs: 9_000 });
    expect(staleSince([query], now)).toBeNull();
    expect(staleSince([], now)).toBeNull();
  });

  it("is its last good answer, from the first read that failed on", async () => {
    const { client, query, now } = shown({ agoMs: 4_000, failing: true });
    await client.refetchQueries({ queryKey: KEY });
    expect(staleSince([query], now)).toBe(now - 4_000);
  });

  it("is its last answer where a read that is asked for again and again is late", () => {
    const { query, now } = shown({ agoMs: 31_000 });
    expect(staleSince([query], now)).toBe(now - 31_000);
  });

  it("does not come with age where nobody asks again", () => {
    const { query, now } = shown({ agoMs: 3_600_000, pace: false });
    expect(staleSince([query], now)).toBeNull();
  });

  it("says nothing of a page that was never there: that has its own words", async () => {
    const { client, query, now } = shown({ hasData: false, failing: true });
    await client.refetchQueries({ queryKey: KEY });
    expect(staleSince([query], now)).toBeNull();
  });

  it("is never where the server says that it is gone: that is the newest there is", async () => {
    const { client, query, now } = shown({ failing: new ApiError({ title: "Not found", status: 404 }) });
    await client.refetchQueries({ queryKey: KEY });
    expect(query.state.status).toBe("error");
    expect(staleSince([query], now)).toBeNull();
  });

  it("is the oldest of several", () => {
    const [one, other] = [shown({ agoMs: 40_000 }), shown({ agoMs: 50_000 })];
    const oldest = other.query.state.dataUpdatedAt;
    expect(oldest).toBeLessThan(one.query.state.dataUpdatedAt);
    expect(staleSince([one.query, other.query], other.now)).toBe(oldest);
  });
});
