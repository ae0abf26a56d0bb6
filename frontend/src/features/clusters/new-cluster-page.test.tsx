import { cleanup, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fill, openPage, press } from "@/testing/app";
import { plan } from "@/testing/samples";

const open = () =>
  openPage("/clusters/new", {
    "POST /api/v1/plans": plan({ kind: "cluster.create", cluster_id: null, confirm_phrase: null } as never),
  });

describe("a new cluster", () => {
  it("is planned without a word of hosts, which are the platform's", async () => {
    const { asked } = await open();
    fill("Name", "orders-prod");
    fill("Brokers", "5");
    expect(screen.queryByText(/^Hosts?$/)).toBeNull();
    fill("Broker configuration", "log.retention.hours=72");
    press("Review plan");
    await waitFor(() =>
      expect(asked.find((one) => one.method === "POST")?.body).toEqual({
        kind: "cluster.create",
        cluster_id: null,
        inputs: {
          name: "orders-prod",
          broker_count: 5,
          listener_security: "SASL_SSL",
          config: { "log.retention.hours": "72" },
        },
      }),
    );
  });

  it.each(["Orders", "o", "orders-", "1orders", "x".repeat(41)])("is not planned under the name %j", async (name) => {
    const { asked } = await open();
    fill("Name", name);
    press("Review plan");
    expect(await screen.findByText(/2 to 40 lower-case letters/)).toBeTruthy();
    expect(asked.some((one) => one.method === "POST")).toBe(false);
  });

  it("says what a setting may be while it is typed", async () => {
    await open();
    expect(screen.queryByLabelText("Allowed values")).toBeNull();
    fill("Broker configuration", "min.insync.replicas=\nlog.dirs=/x\ntoString=1");
    const said = screen.getByLabelText("Allowed values").textContent;
    expect(said).toContain("min.insync.replicas: at least 1 and at most 30");
    expect(said).toContain("log.dirs: not a setting that you may change here");
    expect(said).toContain("toString: not a setting");
  });

  it("is not planned with configuration that cannot be read", async () => {
    await open();
    fill("Name", "orders");
    fill("Broker configuration", "nonsense");
    press("Review plan");
    expect(await screen.findByText("Line 1 is not key=value")).toBeTruthy();
  });

  it("warns of fewer than three brokers", async () => {
    await open();
    expect(screen.queryByText(/fewer than three brokers/)).toBeNull();
    fill("Brokers", "2");
    expect(screen.getByText(/With fewer than three brokers a failed broker means/)).toBeTruthy();
  });

  it("keeps its input over a reload", async () => {
    await open();
    fill("Name", "orders-prod");
    cleanup();
    await open();
    expect((screen.getByLabelText("Name") as HTMLInputElement).value).toBe("orders-prod");
  });
});
