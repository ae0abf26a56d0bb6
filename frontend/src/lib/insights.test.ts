import { QueryClient } from "@tanstack/react-query";
import { expect, it } from "vitest";
import { fileAddress, OBJECTIVES, pointsOf } from "./insights";

const row = (ts: string, value: number | null) => ({ ts, value });

it("orders points by time and leaves a gap where periods are missing", () => {
  const rows = [row("2026-11-21T04:00:00Z", 4), row("2026-11-21T00:00:00Z", 1), row("2026-11-21T01:00:00Z", null)];
  const at = (text: string) => Date.parse(text);
  expect(pointsOf(rows, 3600, (one) => one.value)).toEqual([
    [at("2026-11-21T00:00:00Z"), 1],
    [at("2026-11-21T01:00:00Z"), null],
    [at("2026-11-21T02:00:00Z"), null],
    [at("2026-11-21T04:00:00Z"), 4],
  ]);
});

it("names an answer as a file, whatever the topic is called", () => {
  expect(fileAddress("/a/{cluster_id}/{topic}", { cluster_id: "c1", topic: "a/b" }, "csv")).toBe(
    "/a/c1/a%2Fb?format=csv",
  );
});

it("asks for the file of the very range that is shown", () => {
  const from = "2026-11-21T00:00:00.000Z";
  expect(fileAddress("/a", {}, "parquet", { from, group: undefined, retention_s: 3600 })).toBe(
    "/a?from=2026-11-21T00%3A00%3A00.000Z&retention_s=3600&format=parquet",
  );
});

it("makes an objective's change read again what shows objectives, and no other analysis", async () => {
  const client = new QueryClient();
  const keys = [
    ["analytics", "c1", "insight", "objectives", "readers"],
    ["analytics", "c2", "insight", "objectives", undefined],
    ["analytics", "c1", "insight", "usage", 7],
    ["analytics", "c1", "chart", "lag_seconds", "6h", {}],
    ["analytics", "tenant-usage", 30],
  ];
  for (const key of keys) client.setQueryData(key, {});
  await client.invalidateQueries(OBJECTIVES);
  expect(keys.map((key) => client.getQueryState(key)?.isInvalidated)).toEqual([true, true, false, false, false]);
});
