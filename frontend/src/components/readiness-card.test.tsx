import { screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, rowsOf } from "@/testing/app";
import { awaited, readiness } from "@/testing/samples-readiness";
import { Refusal } from "@/testing/server";

const BASE = "GET /api/v1/clusters/c1/analytics";
const told = (more: object = {}) => ({
  analysis: "x",
  formula_version: 1,
  inputs: [],
  run_id: null,
  as_of: null,
  from: null,
  to: null,
  seen_share: null,
  complete: true,
  data: [],
  ...more,
});
const NAMES = ["usage", "disk-forecast", "change-impact", "hot-partitions", "silent-producers", "unused-topics"];
const open = (answer: unknown) =>
  openPage("/clusters/c1/usage", {
    [`${BASE}/rollups/cluster`]: told({ period_s: 3600 }),
    ...Object.fromEntries(NAMES.map((name) => [`${BASE}/${name}`, told()])),
    [`${BASE}/readiness`]: answer,
  });
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
const WAITED = "What analyses wait for";

describe("the analyses of a new cluster", () => {
  it("are one statement: since when it is observed, what is computed when, and when the first numbers come", async () => {
    await open(
      readiness({
        observed_since: inMinutes(-20),
        hours: 0,
        days: 0,
        data: [
          awaited({
            analysis: "disk-forecast",
            unit: "days",
            needed: 3,
            have: 0,
            state: "collecting",
            first_at: inMinutes(4000),
          }),
          awaited({ have: 0, state: "collecting", first_at: inMinutes(45.5) }),
        ],
      }),
    );
    expect(await screen.findByRole("heading", { name: "Numbers are being collected" })).toBeTruthy();
    expect(screen.getByText(/Offsets and sizes have been sampled since/).textContent).toMatch(
      /each 10 s\..*first numbers come/,
    );
    expect(screen.queryByText("Not known yet")).toBeNull();
    expect(screen.queryByRole("heading", { name: "Disk forecast" })).toBeNull();
    const rows = await rowsOf(WAITED);
    expect(rows.map((row) => [row[0], row[2]])).toEqual([
      ["Usage and cost", "0 of 1 hour"],
      ["Disk forecast", "0 of 3 days"],
    ]);
    expect(rows[0]?.[3]).toMatch(/^in /);
  });

  it("say so when nothing was sampled, when numbers are computed, and when they are late", async () => {
    const nothing = { hours: 0, days: 0 };
    await open(readiness({ ...nothing, observed_since: null, data: [awaited({ have: 0, state: "not_sampled" })] }));
    expect(await screen.findByText(/^Nothing has been sampled yet\./)).toBeTruthy();
    expect((await rowsOf(WAITED))[0]?.[3]).toBe("after the first sample");
  });

  it.each([
    ["computing", "The first numbers are being computed now."],
    ["late", /The first numbers were due .* and are late/],
  ] as const)("say when the first numbers are %s", async (state, text) => {
    await open(readiness({ hours: 0, days: 0, data: [awaited({ have: 0, state, first_at: inMinutes(-30) })] }));
    const card = (await screen.findByRole("heading", { name: "Numbers are being collected" })).closest("section, div");
    expect(card).toBeTruthy();
    const said = await screen.findAllByText((_, element) =>
      typeof text === "string" ? element?.textContent === text : text.test(element?.textContent ?? ""),
    );
    expect(said.length).toBeGreaterThan(0);
  });

  it("stand beside those that can judge already, with how far each is", async () => {
    const silent = awaited({
      analysis: "silent-producers",
      needed: 73,
      have: 12,
      state: "collecting",
      first_at: inMinutes(61 * 60),
    });
    await open(readiness({ hours: 12, days: 0, data: [awaited(), silent] }));
    expect(await screen.findByRole("heading", { name: "Still being collected" })).toBeTruthy();
    expect((await rowsOf(WAITED)).map((row) => [row[0], row[2]])).toEqual([["Silent producers", "12 of 73 hours"]]);
    expect(screen.getByRole("heading", { name: "Disk forecast" })).toBeTruthy();
  });

  it.each([readiness(), new Refusal(500, "The request cannot be served", "x")])(
    "are not spoken of once all can judge, or when that is not known (%#)",
    async (answer) => {
      await open(answer);
      expect(await screen.findByRole("heading", { name: "Disk forecast" })).toBeTruthy();
      expect(screen.queryByRole("table", { name: WAITED })).toBeNull();
    },
  );
});

describe("the usage of a tenant without a whole hour", () => {
  const openUsage = (clusters: unknown[]) =>
    openPage("/usage", {
      "GET /api/v1/analytics/usage": told(),
      "GET /api/v1/analytics/readiness": { complete: true, data: clusters },
    });

  it("says of each cluster since when it is observed and when its first numbers come", async () => {
    await openUsage([
      readiness({ hours: 0, data: [awaited({ have: 0, state: "collecting", first_at: inMinutes(45.5) })] }),
      readiness({
        cluster_id: "c2",
        cluster: "<b>new</b>",
        observed_since: null,
        hours: 0,
        data: [awaited({ have: 0, state: "not_sampled" })],
      }),
    ]);
    const rows = await rowsOf("When the first numbers come");
    expect(rows.map((row) => row[0])).toEqual(["main", "<b>new</b>"]);
    expect(rows[0]?.[2]).toMatch(/^in /);
    expect(rows[1]?.slice(1)).toEqual(["not yet", "after the first sample"]);
    const table = screen.getByRole("table", { name: "When the first numbers come" });
    expect(within(table).getByRole("link", { name: "main" }).getAttribute("href")).toBe("/clusters/c1/usage");
    expect(screen.queryByText("Not known yet")).toBeNull();
  });

  it("gives way to the numbers as soon as one cluster has some", async () => {
    await openUsage([readiness({ hours: 0, data: [awaited({ have: 0 })] }), readiness({ cluster_id: "c2" })]);
    expect(await screen.findByRole("heading", { name: "By cluster" })).toBeTruthy();
  });
});
