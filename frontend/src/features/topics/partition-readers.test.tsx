import { screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, rowsOf } from "@/testing/app";
import { partition, topic } from "@/testing/samples";
import { consumption } from "@/testing/samples-throughput";
import { ok, PENDING, Refusal, unavailable } from "@/testing/server";

const ADDRESS = "/api/v1/clusters/c1/analytics/consumption";
const TITLE = "Read from partition 1";
const open = (answer: unknown) =>
  openPage("/clusters/c1/topics/sales?partition=1", {
    "GET /console/api/pages/topic/c1/sales": {
      parts: {
        topic: ok(topic({ partitions: [partition(), partition({ partition: 1 })] })),
        retention: unavailable("x"),
      },
    },
    "GET /console/api/pages/replicas/c1/sales": { parts: { replicas: unavailable("x") } },
    [`GET ${ADDRESS}`]: answer,
  });
const measured = {
  as_of: "2026-11-21T10:00:00Z",
  stale_after: "2100-01-01T00:00:00Z",
  ts_ms: [0, 120_000],
};
const row = (group: string, values: (number | null)[]) => ({
  group,
  topic: "sales",
  partition: 1,
  values,
  last: values.at(-1) ?? null,
});
const card = async () => {
  const heading = await screen.findByText(TITLE);
  const found = heading.closest("section");
  if (!found) throw new Error("The title is of no card.");
  return within(found);
};

describe("the groups that read a partition", () => {
  it("are named with what they read now and did in the last hour", async () => {
    const rows = [row("billing", [1, 2.5]), row("<b>odd</b>", [null, null])];
    const { asked } = await open(consumption({ ...measured, rows }));
    expect(await rowsOf(TITLE)).toEqual([
      ["billing", "2.5/s", "billing, read from partition 1: 1/s to 2.5/s in the last hour"],
      ["<b>odd</b>", "not known", "–"],
    ]);
    expect(screen.getByRole("link", { name: "billing" }).getAttribute("href")).toBe("/clusters/c1/groups/billing");
    expect(asked.some((one) => one.url === `${ADDRESS}?on=sales%2F1`)).toBe(true);
  });

  it("are none where nobody commits, which is said", async () => {
    await open(consumption(measured));
    expect(await screen.findByText("No group commits on this partition")).toBeTruthy();
  });

  it("are not said to be none where nothing is measured or kept", async () => {
    await open(consumption({ complete: false, reason: "Not measured yet: it takes two samples." }));
    expect(await (await card()).findByText(/Not measured yet/)).toBeTruthy();
    expect(screen.queryByText("No group commits on this partition")).toBeNull();
  });

  it("say what failed, and the rest of the panel stays", async () => {
    await open(new Refusal(500, "The request cannot be served", "The service failed on its side."));
    expect(await (await card()).findByText("The service failed on its side.")).toBeTruthy();
    expect(screen.getByText("Throughput of partition 1")).toBeTruthy();
  });

  it("are waited for", async () => {
    await open(PENDING);
    expect((await card()).queryByText("No group commits on this partition")).toBeNull();
  });
});
