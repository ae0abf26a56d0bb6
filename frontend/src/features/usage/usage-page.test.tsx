import { screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { TenantUsageRow } from "@/lib/insights";
import { figure, heading, openPage, rowsOf } from "@/testing/app";
import { over } from "@/testing/samples";
import { type Answers, PENDING, Refusal } from "@/testing/server";

const URL = "GET /api/v1/analytics/usage";
const AT_MS = Date.parse("2026-11-21T10:00:00Z");
const row = over<TenantUsageRow>({
  cluster_id: "c1",
  cluster: "main",
  topics: 2,
  groups: 1,
  gib_hours: 4291.53,
  gib_in: 17.79,
  gib_out: 17.77,
  unknown_parts: 0,
  cost: "2.281178",
  cost_at_least: "2.281178",
  currency: "EUR",
  as_of_ms: AT_MS,
  seen_share: 0.27,
});
const SUM = { cluster_id: null, cluster: null };
const NOTHING = {
  topics: 0,
  groups: 0,
  gib_hours: null,
  gib_in: null,
  gib_out: null,
  unknown_parts: 1,
  cost: null,
  cost_at_least: null,
  currency: null,
  as_of_ms: null,
  seen_share: null,
};
const told = (data: TenantUsageRow[], more: object = {}) => ({
  analysis: "tenant-usage",
  formula_version: 1,
  inputs: [],
  run_id: null,
  as_of: "2026-11-21T10:00:00Z",
  from: null,
  to: null,
  seen_share: 0.27,
  complete: true,
  data,
  ...more,
});
const open = (answer: unknown, search = "", more: Answers = {}) =>
  openPage(`/usage${search}`, { [URL]: answer, ...more });

describe("what a tenant used", () => {
  it("is not shown before it is known whether there is any yet", async () => {
    await open(told([row(), row(SUM)]), "", { "GET /api/v1/analytics/readiness": PENDING });
    await expect(screen.findByRole("table", {}, { timeout: 200 })).rejects.toThrow();
  });

  it("is shown by cluster and as a sum, with its cost", async () => {
    await open(told([row(), row(SUM)]));
    expect((await rowsOf("Usage by cluster")).map((cells) => cells.slice(0, 8))).toEqual([
      ["main", "2", "1", "4,292", "17.8", "17.8", "2.28 EUR", "nothing"],
    ]);
    expect(figure("Cost")).toBe("2.28 EURby the price book");
    expect(figure("Held, all copies")).toBe("4,292GiB·h");
    expect(figure("Topics and groups")).toBe("2 and 1on 1 cluster");
    expect(screen.getAllByTitle("2.281178 EUR").length).toBe(2);
    expect(screen.getByRole("link", { name: "main" }).getAttribute("href")).toBe("/clusters/c1/usage");
  });

  it("has a lower bound where a part's cost is not known, and none where nothing is", async () => {
    const cheap = row({ cluster_id: "c2", cluster: "new", ...NOTHING });
    await open(
      told([row({ cost: null, unknown_parts: 3 }), cheap, row({ ...SUM, cost: null, unknown_parts: 4 })], {
        complete: false,
      }),
    );
    expect((await rowsOf("Usage by cluster")).map((cells) => [cells[0], cells[1], cells[3], cells[6]])).toEqual([
      ["main", "2", "4,292", "≥ 2.28 EUR"],
      ["new", "not known", "not known", "not known"],
    ]);
    expect(figure("Cost")).toBe("≥ 2.28 EURof 4 parts it is not known");
    expect(screen.getByText("Of some clusters nothing is known yet: the sum is without them.")).toBeTruthy();
  });

  it("is not added over currencies, and says so", async () => {
    const other = row({ cluster_id: "c2", cluster: "new", currency: "USD" });
    await open(told([row(), other, row({ ...SUM, cost: null, cost_at_least: null, currency: null })]));
    await rowsOf("Usage by cluster");
    expect(figure("Cost")).toBe("not knownin several currencies: not added");
  });

  it("counts one part as one", async () => {
    await open(told([row({ cost: null, unknown_parts: 1 }), row({ ...SUM, cost: null, unknown_parts: 1 })]));
    await rowsOf("Usage by cluster");
    expect(figure("Cost")).toBe("≥ 2.28 EURof 1 part it is not known");
  });

  it("says that nothing is known, never 0", async () => {
    await open(told([row(NOTHING), row({ ...SUM, ...NOTHING })], { as_of: null, seen_share: null }));
    await rowsOf("Usage by cluster");
    expect(figure("Cost")).toBe("not knownnothing known has a price");
    expect(figure("Topics and groups")).toBe("not knownon 1 cluster");
    expect(figure("Written")).toBe("not knownGiB");
  });

  it("is asked for from where the address says, and so is the file", async () => {
    const { asked } = await open(told([row(), row(SUM)]), "?last=7d");
    await rowsOf("Usage by cluster");
    const url = asked.map((one) => one.url).find((one) => one.startsWith("/api/v1/analytics/usage"));
    const from = Date.parse(new URLSearchParams(url?.split("?")[1]).get("from") ?? "");
    expect(Math.abs(Date.now() - 7 * 86_400_000 - from)).toBeLessThan(60_000);
  });

  it("is empty without clusters", async () => {
    await open(told([], { as_of: null }));
    expect(await screen.findByText("There is no cluster that you may see.")).toBeTruthy();
  });

  it("shows placeholders while it is awaited", async () => {
    await open(PENDING);
    expect((await screen.findAllByLabelText("Loading")).length).toBeGreaterThan(0);
  });

  it("says why it failed, and offers to ask again", async () => {
    await open(new Refusal(500, "It cannot be served", "The service failed on its side."));
    expect(await screen.findByText("The service failed on its side.")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Try again" })).toBeTruthy();
  });

  it("gives way to a refusal", async () => {
    await open(new Refusal(403, "You may not see this"));
    await waitFor(() => expect(heading()).toBe("You may not see this"));
  });
});
