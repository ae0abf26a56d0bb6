import { cleanup, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fill, openPage, press } from "@/testing/app";
import { config, operation, plan, topic } from "@/testing/samples";
import { type Answers, ok, Refusal, unavailable } from "@/testing/server";

const created = plan({ kind: "topic.create", confirm_phrase: null });
const open = (more: Answers = {}) =>
  openPage("/clusters/c1/new-topic", {
    "POST /api/v1/plans": created,
    "POST /api/v1/operations": operation(),
    "GET /console/api/pages/operation/op_1": { parts: { operation: ok(operation()), plan: ok(created) } },
    ...more,
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

  it("says at each field what the plan refuses of it", async () => {
    const errors = [
      { pointer: "/inputs/replication_factor", code: "refused-by-cluster", detail: "There are 3 brokers." },
      { pointer: "/inputs/configs/retention.ms", code: "invalid", detail: "Value must be at least -1." },
      {
        pointer: "/inputs/configs/segment.ms",
        code: "invalid",
        detail: "segment.ms is '0'. Value must be at least 1.",
      },
      { pointer: "/inputs/configs/max.message.bytes", code: "invalid", detail: "Not a number." },
    ];
    const { asked } = await open({
      "POST /api/v1/plans": new Refusal(422, "Some fields are not valid", "inputs/…", { errors }),
    });
    fill("Name", "orders");
    press("Review plan");
    expect(await screen.findByText("There are 3 brokers.")).toBeTruthy();
    expect(screen.getByLabelText("Replication factor").getAttribute("aria-invalid")).toBe("true");
    expect(screen.getByText("Value must be at least -1.")).toBeTruthy();
    expect(
      screen.getByText("segment.ms is '0'. Value must be at least 1. max.message.bytes: Not a number."),
    ).toBeTruthy();
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(value("Name")).toBe("orders");
    expect(asked.filter((one) => one.method === "POST")).toHaveLength(1);
  });

  it("warns of one copy and of two", async () => {
    await open();
    fill("Replication factor", "1");
    expect(screen.getByText("With one copy, a lost broker means lost records.")).toBeTruthy();
    fill("Replication factor", "2");
    expect(screen.getByText(/With two copies and two required in sync/)).toBeTruthy();
  });

  it("starts like the topic that is cloned, and says what is not taken over", async () => {
    const { asked } = await openPage("/clusters/c1/new-topic?from=sales", {
      "POST /api/v1/plans": created,
      "GET /console/api/pages/topic/c1/sales": {
        parts: {
          topic: ok(topic({ configs: [config(), config({ name: "segment.bytes", value: "1048576" })] })),
          retention: unavailable("not yet"),
        },
      },
    });
    expect(await screen.findByText(/Records, ACLs and the offsets of groups are not\./)).toBeTruthy();
    expect(screen.getByRole("heading", { level: 1 }).textContent).toBe("Clone topic");
    expect(value("Name")).toBe("sales-copy");
    fill("Name", "sales.2");
    press("Review plan");
    await screen.findByRole("form", { name: "Plan" });
    expect(asked.find((one) => one.method === "POST")?.body).toEqual({
      kind: "topic.create",
      cluster_id: "c1",
      inputs: {
        name: "sales.2",
        partitions: 2,
        replication_factor: 3,
        configs: { "segment.bytes": "1048576", "retention.ms": "3600000" },
      },
    });
  });

  it("is not cloned from a topic that is not there", async () => {
    await openPage("/clusters/c1/new-topic?from=gone", {
      "GET /console/api/pages/topic/c1/gone": new Refusal(404, "Not found", "There is no topic gone."),
    });
    expect(await screen.findByText("There is no topic gone.")).toBeTruthy();
    expect(screen.queryByLabelText("Name")).toBeNull();
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
