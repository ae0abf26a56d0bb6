import { fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, whole } from "@/testing/app";
import { topic } from "@/testing/samples";
import { offsets } from "@/testing/samples-throughput";
import { ok, PENDING, Refusal, unavailable } from "@/testing/server";

const ADDRESS = "/api/v1/clusters/c1/analytics/offsets";
const open = (answer: unknown, search = "?partition=0") =>
  openPage(`/clusters/c1/topics/sales${search}`, {
    "GET /console/api/pages/topic/c1/sales": { parts: { topic: ok(topic()), retention: unavailable("x") } },
    "GET /console/api/pages/replicas/c1/sales": { parts: { replicas: unavailable("x") } },
    [`GET ${ADDRESS}`]: answer,
  });
const TITLE = "Log start and log end of partition 0";

const known = offsets({
  of: "partition",
  as_of: "2026-11-21T10:00:00Z",
  stale_after: "2100-01-01T00:00:00Z",
  to: "1970-01-01T03:00:00Z",
  ts_ms: [0, 3_600_000, 7_200_000],
  start_offset: [0, null, 40],
  end_offset: [100, null, 150],
});

describe("log start and log end over time", () => {
  it("are drawn with what lies between, and a gap stays a gap", async () => {
    await open(known);
    expect(await screen.findByRole("heading", { name: TITLE })).toBeTruthy();
    const drawn = await screen.findByRole("img", { name: "Log start and log end offset over time" });
    expect(drawn.textContent).toBe("log end: 100 gap 150log start: 0 gap 40");
    expect(screen.getByRole("img", { name: "Records held over time" }).textContent).toBe("held: 100 gap 110");
    expect(screen.getByText("by hours, a point each 1 h")).toBeTruthy();
    expect(screen.getByText(whole("the log start rose by 40 offsets"))).toBeTruthy();
  });

  it("are of the topic as a whole among its analyses, and keep the range in the address", async () => {
    const { asked, router } = await open({ ...known, of: "topic" }, "?tab=analyses");
    expect(await screen.findByRole("heading", { name: "Log start and log end" })).toBeTruthy();
    const urls = () => asked.map((one) => one.url);
    expect(urls()).toContain(`${ADDRESS}?topic=sales&range=24h&points=240`);
    const ranges = screen.getByRole("radiogroup", { name: "Time range of log start and log end" });
    fireEvent.click(ranges.querySelector("input[value='90d']") as HTMLInputElement);
    await waitFor(() => expect(router.state.location.search).toMatchObject({ range: "90d", tab: "analyses" }));
    await waitFor(() => expect(urls()).toContain(`${ADDRESS}?topic=sales&range=90d&points=240`));
  });

  it.each([
    [offsets(), "Not known yet"],
    [{ ...known, start_offset: [null], end_offset: [null] }, "Nothing is known in this range"],
  ])("say when there is nothing to draw (%#)", async (answer, text) => {
    await open(answer);
    expect(await screen.findByText(text)).toBeTruthy();
    expect(screen.queryByText(/log start rose/)).toBeNull();
  });

  it("say why something is missing, and when they are old", async () => {
    await open({ ...known, reason: "Hours are kept of 20,000 partitions.", stale_after: "2026-11-21T10:01:00Z" });
    expect(await screen.findByText("Hours are kept of 20,000 partitions.")).toBeTruthy();
    expect((await screen.findAllByText(/stale: as of/)).length).toBeGreaterThan(0);
  });

  it("wait, say what failed, and are not there for who may not see them", async () => {
    await open(PENDING);
    expect(await screen.findByRole("heading", { name: TITLE })).toBeTruthy();
  });

  it("say what failed", async () => {
    await open(new Refusal(500, "The request cannot be served", "The service failed on its side."));
    expect(await screen.findByText("The service failed on its side.")).toBeTruthy();
  });
});
