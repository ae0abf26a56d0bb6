import { focusManager, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, renderHook, waitFor } from "@testing-library/react";
import { createElement, type ReactNode } from "react";
import { expect, it, vi } from "vitest";
import { serve } from "@/testing/server";
import { knownShare, linesOf, useChart } from "./charts";

const series = [
  { topic: "sales", group: "readers", typical: [1, null, 3], highest: [2, null, 9], known: [1, null, 0.5] },
];

it("draws what is typical and the peak, with gaps where nothing is known", () => {
  expect(linesOf({ ts_ms: [10, 20, 30], series })).toEqual([
    {
      name: "sales",
      points: [
        [10, 1],
        [20, null],
        [30, 3],
      ],
    },
    {
      name: "sales, peak",
      points: [
        [10, 2],
        [20, null],
        [30, 9],
      ],
    },
  ]);
});

it("says how much is known, and nothing of no series", () => {
  expect(knownShare({ series })).toBe(0.5);
  expect(knownShare({ series: [] })).toBeNull();
});

it("is not read again at once whenever somebody comes back to the window", async () => {
  const asked = serve({ "GET /api/v1/clusters/c1/analytics/chart": { ts_ms: [], series: [] } });
  const client = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => createElement(QueryClientProvider, { client }, children);
  const { result } = renderHook(() => useChart("c1", "lag_seconds", "6h"), { wrapper });
  await waitFor(() => expect(result.current.isSuccess).toBe(true));
  const comeBack = () =>
    act(async () => {
      focusManager.setFocused(false);
      focusManager.setFocused(true);
      await new Promise((resolve) => setTimeout(resolve));
    });
  await comeBack();
  expect(asked).toHaveLength(1);
  const now = Date.now();
  vi.spyOn(Date, "now").mockReturnValue(now + 31_000);
  await comeBack();
  vi.restoreAllMocks();
  await waitFor(() => expect(asked).toHaveLength(2));
});
