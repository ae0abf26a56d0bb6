import { cleanup, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fill, openPage, press } from "@/testing/app";
import { operation, plan } from "@/testing/samples";
import { ok } from "@/testing/server";

const created = plan({ kind: "topic.create", confirm_phrase: null });
const open = () =>
  openPage("/clusters/c1/new-topic", {
    "POST /api/v1/plans": created,
    "POST /api/v1/operations": operation(),
    "GET /console/api/pages/operation/op_1": { parts: { operation: ok(operation()), plan: ok(created) } },
  });
const value = (label: string) => (screen.getByLabelText(label) as HTMLInputElement).value;

describe("a new topic", () => {
  it("is planned with what the form says, its settings in Kafka's names", async () => {
    const { asked } = await open();
    expect(await screen.findByText("On cluster orders")).toBeTruthy();
    fill("Name", "orders.created");
    fill("Partitions", "12");
    fill("More configuration", "min.insync.replicas=2\n# a comment");
    press("Review plan");
    await screen.findByRole("form", { name: "Plan" });
    expect(asked.find((one) => one.method === "POST")?.body).toEqual({
      kind: "topic.create",
      cluster_id: "c1",
      inputs: {
        name: "orders.created",
        partitions: 12,
        replication_factor: 3,
        configs: { "min.insync.replicas": "2" },
      },
    });
  });

  it.each([".", "..", "no spaces", "", "x".repeat(250)])("is not planned under the name %j", async (name) => {
    const { asked } = await open();
    fill("Name", name);
    press("Review plan");
    expect(await screen.findByText("1 to 249 letters, digits, dots, dashes and underscores")).toBeTruthy();
    expect(asked.some((one) => one.method === "POST")).toBe(false);
  });

  it("is not planned with configuration that cannot be read, and says which line", async () => {
    const { asked } = await open();
    fill("Name", "orders");
    fill("More configuration", "a=1\nnonsense");
    press("Review plan");
    expect(await screen.findByText("Line 2 is not key=value")).toBeTruthy();
    expect(asked.some((one) => one.method === "POST")).toBe(false);
  });

  it("warns of one copy and of two", async () => {
    await open();
    fill("Copies (replication factor)", "1");
    expect(screen.getByText("With one copy, a lost broker means lost records.")).toBeTruthy();
    fill("Copies (replication factor)", "2");
    expect(screen.getByText(/With two copies and two required in sync/)).toBeTruthy();
  });

  it("keeps its input over a reload, until its plan is confirmed", async () => {
    await open();
    fill("Name", "orders.created");
    cleanup();
    await open();
    expect(value("Name")).toBe("orders.created");
    press("Review plan");
    await screen.findByRole("form", { name: "Plan" });
    press("Create topic");
    expect(await screen.findByText("The topic is there, with a leader for every partition")).toBeTruthy();
    await waitFor(() => expect(sessionStorage.getItem("penstock.draft.new-topic/c1")).toBeNull());
  });
});
