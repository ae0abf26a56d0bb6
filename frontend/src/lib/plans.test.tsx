import { QueryClient, QueryClientProvider, QueryObserver } from "@tanstack/react-query";
import { act, renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { describe, expect, it, vi } from "vitest";
import { fakeEvents } from "@/testing/events";
import { operation, plan } from "@/testing/samples";
import { ok, Refusal, serve, unavailable } from "@/testing/server";
import { useCancelOperation, useConfirmPlan, useOperation } from "./plans";

const PAGE = "GET /console/api/pages/operation/op_1";
const EVENTS = "/console/events/operations/op_1";
const answered = (state: "running" | "succeeded") => ({
  parts: { operation: ok(operation({ state })), plan: ok(plan()) },
});

function world() {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  return { client, wrapper };
}

describe("confirming a plan", () => {
  it("has one key for one confirmation, so that a retry starts nothing twice", async () => {
    const keys: string[] = [];
    serve({ "POST /api/v1/operations": operation() });
    const fetched = fetch;
    globalThis.fetch = (url, init) => {
      keys.push((init?.headers as Record<string, string>)["Idempotency-Key"] ?? "none");
      return fetched(url, init);
    };
    const { result } = renderHook(useConfirmPlan, world());
    for (const reason of ["because", "because", "another"])
      await act(() => result.current.mutateAsync({ plan: plan(), confirm: "sales", reason }));
    expect(keys[0]).toMatch(/^pl_1-[0-9a-f]{8}$/);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });
});

describe("an operation", () => {
  it("moves by its stream, which ends with it", async () => {
    const stream = fakeEvents();
    serve({ [PAGE]: answered("running") });
    const { result } = renderHook(() => useOperation("op_1"), world());
    await waitFor(() => expect(result.current.data?.state).toBe("running"));
    act(() => stream(EVENTS).connect());
    expect(result.current.live).toBe(true);
    act(() => stream(EVENTS).send("operation", operation({ state: "succeeded" })));
    await waitFor(() => expect(result.current.data?.state).toBe("succeeded"));
    await waitFor(() => expect(stream(EVENTS).readyState).toBe(2));
  });

  it("has what is shown asked for again when it ends, also without a stream", async () => {
    let state: "running" | "succeeded" = "running";
    serve({ [PAGE]: () => answered(state) });
    const { client, wrapper } = world();
    const read = vi.fn(() => Promise.resolve("grants"));
    const observer = new QueryObserver(client, { queryKey: ["page", "access"], queryFn: read });
    const stop = observer.subscribe(() => undefined);
    await waitFor(() => expect(read).toHaveBeenCalledTimes(1));
    const { result } = renderHook(() => useOperation("op_1"), { wrapper });
    await waitFor(() => expect(result.current.data?.state).toBe("running"));
    state = "succeeded";
    await act(() => result.current.refetch());
    await waitFor(() => expect(read).toHaveBeenCalledTimes(2));
    await act(() => result.current.refetch());
    expect(read).toHaveBeenCalledTimes(2);
    stop();
  });

  it("that ended long ago has nothing asked for again, one that was just started has", async () => {
    serve({ [PAGE]: answered("succeeded") });
    for (const [isNew, times] of [
      [false, 0],
      [true, 1],
    ] as const) {
      const { client, wrapper } = world();
      const asked = vi.spyOn(client, "invalidateQueries");
      const { result } = renderHook(() => useOperation("op_1", { isNew }), { wrapper });
      await waitFor(() => expect(result.current.data?.state).toBe("succeeded"));
      expect(asked).toHaveBeenCalledTimes(times);
    }
  });

  it("is an error with its reason, not nothing, when its part is missing", async () => {
    serve({
      [PAGE]: {
        parts: { operation: unavailable("The database is busy."), plan: unavailable("The database is busy.") },
      },
    });
    const { result } = renderHook(() => useOperation("op_1"), world());
    await waitFor(() => expect(result.current.error?.message).toBe("The database is busy."));
    expect(result.current.data).toBeUndefined();
  });

  it("is neither followed nor asked for again when there is none of the kind", async () => {
    const stream = fakeEvents();
    const asked = serve({ [PAGE]: new Refusal(404, "Operation not found") });
    const { result } = renderHook(() => useOperation("op_1"), world());
    await waitFor(() => expect(result.current.isError).toBe(true));
    await waitFor(() => expect(stream(EVENTS).readyState).toBe(2));
    expect(asked).toHaveLength(1);
  });

  it("shows at once what cancelling made of it", async () => {
    const asked = serve({
      [PAGE]: answered("running"),
      "POST /api/v1/operations/op_1/cancellation": operation({ state: "cancelling" }),
    });
    const { result } = renderHook(() => ({ shown: useOperation("op_1"), cancel: useCancelOperation() }), world());
    await waitFor(() => expect(result.current.shown.data?.state).toBe("running"));
    await act(() => result.current.cancel.mutateAsync("op_1"));
    await waitFor(() => expect(result.current.shown.data?.state).toBe("cancelling"));
    expect(asked.some((one) => one.method === "POST")).toBe(true);
  });
});
