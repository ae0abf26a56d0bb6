import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import type { ChartSubject } from "@/lib/chart-events";
import { listed, timelineEvent } from "@/testing/samples";
import { serve, Refusal } from "@/testing/server";
import { TimeChart } from "./time-chart";

const FROM = Date.parse("2026-11-21T10:00:00Z");
const series = [
  {
    name: "sales",
    points: [
      [FROM, 1],
      [FROM + 3_600_000, 2],
    ] as [number, number][],
  },
];
// About nothing that has a page: a link needs a router, which a chart alone has not.
const event = timelineEvent({ at: "2026-11-21T10:30:00Z", text: "Someone left.", subject: "" });
const SOME = { ...listed([event]), kept_from: "2026-10-17T10:00:00Z" };

function draw(answer: unknown, about: ChartSubject | null = { clusterId: "c1" }) {
  const asked = serve({ "GET /api/v1/timeline": answer });
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={client}>
        <TimeChart series={series} label="Records" about={about ?? undefined} />
      </QueryClientProvider>
    </MantineProvider>,
  );
  return asked;
}

beforeEach(() => localStorage.clear());

describe("events on a chart", () => {
  it("asks nothing where a chart is about nothing", async () => {
    const asked = draw(SOME, null);
    expect(await screen.findByRole("img", { name: "Records" })).toBeTruthy();
    expect(asked).toEqual([]);
    expect(screen.queryByRole("button")).toBeNull();
  });

  it("says that there are none, and that they could not be read", async () => {
    draw({ ...listed([]), kept_from: "2026-10-17T10:00:00Z" });
    expect(await screen.findByText("No events in this time")).toBeTruthy();
    draw(new Refusal(503, "later"));
    expect(await screen.findByText("Events could not be read")).toBeTruthy();
  });

  it("are hidden on all charts, and not asked for then", async () => {
    draw(SOME);
    expect(await screen.findByRole("button", { name: "1 event in this time" })).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "Hide events" }));
    expect(screen.queryByRole("button", { name: "1 event in this time" })).toBeNull();
    expect(screen.queryByText("marks: 1")).toBeNull();
    const asked = draw(SOME);
    await waitFor(() => expect(screen.getAllByRole("button", { name: "Show events" })).toHaveLength(2));
    expect(asked).toEqual([]);
  });

  it("stand as a numbered list in the order of the marks", async () => {
    draw(SOME);
    const button = await screen.findByRole("button", { name: "1 event in this time" });
    expect(button.getAttribute("aria-expanded")).toBe("false");
    expect(screen.getByText("marks: 1")).toBeTruthy();
    fireEvent.click(button);
    const list = within(screen.getByRole("list", { name: "Events in: Records" }));
    expect(list.getByRole("listitem").textContent).toContain("1. Someone left.");
    expect(button.getAttribute("aria-expanded")).toBe("true");
  });
});
