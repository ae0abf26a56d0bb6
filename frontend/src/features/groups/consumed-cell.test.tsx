import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { consumption } from "@/testing/samples-throughput";
import { Refusal, serve } from "@/testing/server";
import { ConsumedCell } from "./consumed-cell";

const DUE = "2100-01-01T00:00:00Z";
let clusters = 0;

/** Each test has a cluster of its own: rows of one are asked for together. */
function show(partitions: number[], answer: unknown) {
  const clusterId = `r${(clusters += 1)}`;
  const address = `/api/v1/clusters/${clusterId}/analytics/consumption`;
  const asked = serve({ [`GET ${address}`]: answer });
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        {partitions.map((partition) => (
          <p key={partition} data-testid={partition}>
            <ConsumedCell clusterId={clusterId} group="readers" topic="sales" partition={partition} />
          </p>
        ))}
      </QueryClientProvider>
    </MantineProvider>,
  );
  return { asked, address };
}

const row = (partition: number, values: (number | null)[]) => ({
  group: "readers",
  topic: "sales",
  partition,
  values,
  last: values.at(-1) ?? null,
});
const said = (partition: number) => screen.getByTestId(String(partition)).textContent;

describe("what a group reads of its partitions", () => {
  it("is one question for all rows, exact on hover, and no line goes over a gap", async () => {
    const rows = [row(0, [1, null, 2.5]), row(1, [0, 0, 0]), row(2, [3, 3, null]), row(3, [null, null, null])];
    const { asked, address } = show([0, 1, 2, 3, 4], consumption({ stale_after: DUE, rows }));
    expect((await screen.findByText("2.5/s")).getAttribute("title")).toContain("2.5");
    expect(screen.getByRole("img", { name: "sales-0, consumed: 1/s to 2.5/s in the last hour" }).children).toHaveLength(
      3,
    );
    expect(screen.getByText("0/s")).toBeTruthy();
    // A reset or a gap just now: the hour is there, the newest rate is not.
    expect(said(2)).toContain("not known");
    expect(screen.getByRole("img", { name: /^sales-2/ })).toBeTruthy();
    expect(said(3)).toBe("not known");
    expect(said(4)).toBe("not known");
    expect(asked.map((one) => one.url)).toEqual([
      `${address}?group=readers&${[0, 1, 2, 3, 4].map((id) => `on=sales%2F${id}`).join("&")}`,
    ]);
  });

  it("is no newest rate once a newer one was due", async () => {
    show([0], consumption({ stale_after: "2026-01-01T00:00:00Z", rows: [row(0, [1, 2])] }));
    expect(await screen.findByRole("img", { name: /^sales-0/ })).toBeTruthy();
    expect(said(0)).toContain("not known");
  });

  it("is not known when it cannot be had", async () => {
    const { asked } = show([0], new Refusal(500, "The request cannot be served"));
    await expect.poll(() => asked.length).toBe(1);
    expect(said(0)).toBe("not known");
  });
});
