import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { describe, expect, it, vi } from "vitest";
import { operation, topicRow } from "@/testing/samples";
import { ok, Refusal, serve } from "@/testing/server";
import { pageQuery, readList, REFRESH_MS, usePage } from "./page";

const wrapper = ({ children }: { children: ReactNode }) => (
  <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
    {children}
  </QueryClientProvider>
);

type Interval = (query: { state: object }) => number | false;

describe("page read models", () => {
  it("are known by an address whose blanks may hold any character", () => {
    expect(pageQuery("overview", {}).queryKey).toEqual(["page", "overview"]);
    const { queryKey } = pageQuery("topic/{cluster_id}/{topic}", { cluster_id: "c1", topic: "a/b ü?" });
    expect(queryKey).toEqual(["page", "topic", "c1", "a%2Fb%20%C3%BC%3F"]);
  });

  it("give their parts", async () => {
    const asked = serve({ "GET /console/api/pages/topics/c1": { parts: { topics: ok([topicRow()]) } } });
    const { result } = renderHook(() => usePage("topics/{cluster_id}", { cluster_id: "c1" }), { wrapper });
    await waitFor(() => expect(result.current.data?.parts.topics.data?.[0]?.name).toBe("sales"));
    expect(asked).toHaveLength(1);
  });

  it("are not sent again while they say the same, and are as fresh as if they were", async () => {
    const body = { parts: { topics: ok([topicRow()]) } };
    const known: (string | null)[] = [];
    vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
      known.push(new Headers(init.headers).get("If-None-Match"));
      if (known.length === 1) return new Response(JSON.stringify(body), { headers: { ETag: 'W/"t1"' } });
      return new Response(null, { status: 304, headers: { "Penstock-As-Of": "topics=2026-11-26T12:00:00Z" } });
    });
    const { result } = renderHook(() => usePage("topics/{cluster_id}", { cluster_id: "c1" }, false), { wrapper });
    await waitFor(() => expect(result.current.data?.parts.topics.data).toHaveLength(1));
    const first = result.current.dataUpdatedAt;
    const rows = result.current.data?.parts.topics.data;
    await waitFor(() => expect(Date.now()).toBeGreaterThan(first));
    await result.current.refetch();
    await waitFor(() => expect(result.current.dataUpdatedAt).toBeGreaterThan(first));
    expect(known).toEqual([null, 'W/"t1"']);
    expect(result.current.data?.parts.topics.as_of).toBe("2026-11-26T12:00:00Z");
    expect(result.current.data?.parts.topics.data).toEqual([{ ...rows?.[0], as_of: "2026-11-26T12:00:00Z" }]);
    expect(result.current.isError).toBe(false);
    await result.current.refetch();
    expect(known.at(-1)).toBe('W/"t1"');
  });

  it("are asked for with the tag of the last answer, also of one that sent nothing", async () => {
    const body = { parts: { topics: ok([topicRow()]) } };
    const known: (string | null)[] = [];
    vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
      known.push(new Headers(init.headers).get("If-None-Match"));
      if (known.length === 1) return new Response(JSON.stringify(body), { headers: { ETag: 'W/"says.1"' } });
      return new Response(null, { status: 304, headers: { ETag: 'W/"says.2"', "Penstock-As-Of": "" } });
    });
    const { result } = renderHook(() => usePage("topics/{cluster_id}", { cluster_id: "c1" }, false), { wrapper });
    await waitFor(() => expect(result.current.data?.parts.topics.data).toHaveLength(1));
    await result.current.refetch();
    await result.current.refetch();
    expect(known).toEqual([null, 'W/"says.1"', 'W/"says.2"']);
  });

  it("are lists, too: what is kept of one stays while it is the same", async () => {
    const known: (string | null)[] = [];
    vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
      known.push(new Headers(init.headers).get("If-None-Match"));
      if (known.length === 1) return new Response('{"data":[1]}', { headers: { ETag: 'W/"t1"' } });
      return new Response(null, { status: 304, headers: { ETag: 'W/"t1"' } });
    });
    const { signal } = new AbortController();
    const first = await readList<{ data: number[] }>("/api/v1/alerts", undefined, signal);
    expect(first).toEqual({ data: [1], tag: 'W/"t1"' });
    expect(await readList("/api/v1/alerts", first, signal)).toBe(first);
    expect(known).toEqual([null, 'W/"t1"']);
  });

  it("are not asked for again once refused", async () => {
    serve({ "GET /console/api/pages/topics/c1": new Refusal(404, "Cluster not found") });
    const { result } = renderHook(() => usePage("topics/{cluster_id}", { cluster_id: "c1" }), { wrapper });
    await waitFor(() => expect(result.current.error?.message).toBe("Cluster not found"));
    const interval = pageQuery("topics/{cluster_id}", { cluster_id: "c1" }).refetchInterval as unknown as Interval;
    expect(interval({ state: { data: undefined, error: result.current.error } })).toBe(false);
    expect(interval({ state: { data: { parts: {} }, error: result.current.error } })).toBe(REFRESH_MS);
  });

  it("are asked for again as fast as what they say wants it", () => {
    const pace = pageQuery("operations", {}, (page) =>
      page?.parts.operations.data?.some((row) => row.state === "running") ? 100 : 5000,
    ).refetchInterval as unknown as Interval;
    const at = (state: "running" | "succeeded") =>
      pace({ state: { data: { parts: { operations: ok([operation({ state })]) } }, error: null } });
    expect([at("running"), at("succeeded")]).toEqual([100, 5000]);
  });
});
