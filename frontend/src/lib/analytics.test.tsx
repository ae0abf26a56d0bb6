import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { describe, expect, it } from "vitest";
import { lagPoint } from "@/testing/samples-groups";
import { serve } from "@/testing/server";
import { useLag } from "./analytics";

const wrapper = ({ children }: { children: ReactNode }) => (
  <QueryClientProvider client={new QueryClient()}>{children}</QueryClientProvider>
);

describe("Spark's results", () => {
  it("are asked for from the beginning of the range on, for one group where one is named", async () => {
    const asked = serve({ "GET /api/v1/clusters/c1/analytics/lag": { as_of: null, run_id: null, data: [lagPoint()] } });
    const { result } = renderHook(() => useLag("c1", "6h", "a b"), { wrapper });
    await waitFor(() => expect(result.current.data?.data).toHaveLength(1));
    const query = new URLSearchParams(asked[0]?.url.split("?")[1]);
    expect(query.get("group")).toBe("a b");
    const hours = (Date.now() - new Date(query.get("from") ?? "").getTime()) / 3_600_000;
    expect(hours).toBeGreaterThan(5.99);
    expect(hours).toBeLessThan(6.01);
  });
});
