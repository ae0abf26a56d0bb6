import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage } from "@/testing/app";
import { group } from "@/testing/samples-groups";
import { lineOf, throughput } from "@/testing/samples-throughput";
import { ok, Refusal, unavailable } from "@/testing/server";

const ADDRESS = "/api/v1/clusters/c1/analytics/throughput";
const measured = (series: ReturnType<typeof lineOf>[]) =>
  throughput({
    of: "group",
    as_of: "2026-11-21T10:00:00Z",
    stale_after: "2100-01-01T00:00:00Z",
    from: "2026-11-21T09:59:00Z",
    to: "2026-11-21T10:00:00Z",
    ts_ms: [0, 30_000],
    series,
  });
const open = (answer: unknown, search = "") =>
  openPage(`/clusters/c1/groups/readers${search}`, {
    "GET /console/api/pages/group/c1/readers": {
      parts: { group: ok(group()), lag: unavailable("x"), retention: unavailable("x"), collector: unavailable("x") },
    },
    [`GET ${ADDRESS}`]: answer,
  });
const records = async () => (await screen.findByRole("img", { name: "Records a second over time" })).textContent;

describe("a group's throughput", () => {
  it("has what is consumed beside what is produced", async () => {
    await open(measured([lineOf([4, null], { topic: "sales", records_out_per_s: [1, 2], bytes_out_per_s: [8, 16] })]));
    expect(await records()).toBe("consumed: 1 2produced: 4 gap");
    expect(screen.getByRole("img", { name: "Bytes a second over time" }).textContent).toBe(
      "consumed: 8 16produced: 4096 gap",
    );
  });

  it("names the topics where there are several, the busiest alone where they are many", async () => {
    const of = (topic: string) => lineOf([4, 4], { topic, records_out_per_s: [1, 1] });
    await open(measured(["a", "b", "c", "d", "e"].map(of)));
    expect(await records()).toContain("a, consumed: 1 1a, produced: 4 4b, consumed");
    expect(await records()).not.toContain("e, consumed");
    expect(screen.getByText(/the busiest 4 of 5 topics are shown/)).toBeTruthy();
  });

  it("keeps its range in the address", async () => {
    const { router, asked } = await open(measured([]));
    fireEvent.click(within(await screen.findByLabelText("Time range of throughput")).getByLabelText("7d"));
    await waitFor(() => expect(router.state.location.search).toEqual({ range: "7d" }));
    await waitFor(() =>
      expect(asked.some((one) => one.url === `${ADDRESS}?of=group&group=readers&range=7d&points=240`)).toBe(true),
    );
  });

  it("says what failed, and the rest of the page stays", async () => {
    await open(new Refusal(500, "The request cannot be served", "The service failed on its side."));
    expect((await screen.findAllByText("The service failed on its side.")).length).toBeGreaterThan(0);
    expect(await screen.findByRole("table", { name: "Offsets" })).toBeTruthy();
  });

  it("leads from a partition's row to the partition", async () => {
    await open(measured([]));
    const [link] = await screen.findAllByTitle(/What goes in and out of this partition/);
    expect(link?.getAttribute("href")).toMatch(/^\/clusters\/c1\/topics\/\w+\?partition=0$/);
  });
});
