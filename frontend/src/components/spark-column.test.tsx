import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { sparklines } from "@/testing/samples-throughput";
import { Refusal, serve } from "@/testing/server";
import { SparkCell } from "./spark-column";

let clusters = 0;

/** Each test has a cluster of its own: rows of one are asked for together. */
function show(names: string[], answer: unknown) {
  const clusterId = `s${(clusters += 1)}`;
  const asked = serve({ [`GET /api/v1/clusters/${clusterId}/analytics/sparklines`]: answer });
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        {names.map((name) => (
          <p key={name} data-testid={name}>
            <SparkCell clusterId={clusterId} of="topic" name={name} />
          </p>
        ))}
      </QueryClientProvider>
    </MantineProvider>,
  );
  return { asked, clusterId };
}

describe("rates in a list", () => {
  it("are asked for by one question, however many rows there are", async () => {
    const rows = [
      { name: "orders", values: [1, null, 2.5], last: 2.5 },
      { name: "sales", values: [0, 0, 0], last: 0 },
    ];
    const { asked, clusterId } = show(["orders", "sales", "new"], sparklines({ rows }));
    expect(await screen.findByText("2.5/s")).toBeTruthy();
    expect(screen.getByText("0/s")).toBeTruthy();
    expect(screen.getByTestId("new").textContent).toBe("–");
    expect(screen.getByRole("img", { name: "orders, written: 1/s to 2.5/s in the last hour" })).toBeTruthy();
    expect(asked.map((one) => one.url)).toEqual([
      `/api/v1/clusters/${clusterId}/analytics/sparklines?of=topic&name=orders&name=sales&name=new`,
    ]);
  });

  it("are a dash while they are not known, and when they cannot be had", async () => {
    const { asked } = show(["orders"], new Refusal(500, "The request cannot be served"));
    await expect.poll(() => asked.length).toBe(1);
    expect(screen.getByTestId("orders").textContent).toBe("–");
  });
});
