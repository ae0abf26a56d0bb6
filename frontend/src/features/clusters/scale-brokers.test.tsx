import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, press, rowsOf } from "@/testing/app";
import { cluster, operation, plan, session } from "@/testing/samples";
import { type Answers, ok, Refusal } from "@/testing/server";

const parts = {
  cluster: ok(cluster()),
  attention: ok([]),
  summary: ok({ topics: 4, partitions: 24, under_replicated: 0, offline: 0, size_bytes: 4096 }),
  loads: ok([]),
  reassignments: ok({ total: 0, rows: [], unknown: [] }),
  operations: ok([]),
  events: ok([]),
};
const open = (of: object = {}, more: Answers = {}) =>
  openPage("/clusters/c1", { "GET /console/api/pages/cluster/c1": { parts: { ...parts, ...of } }, ...more });
const added = {
  brokers: [
    {
      broker_id: 4,
      rack: "r1",
      address: "10.0.0.4",
      client_port: 9092,
      internal_port: 9093,
      reason: "Rack r1 has 1 broker of the cluster, as few as any.",
    },
  ],
  count_before: 3,
  count_after: 4,
  settings_kept: { "default.replication.factor": "1" },
};
const removed = {
  brokers: [{ id: 1, rack: "", address: "10.0.0.1", client_port: 9092, is_controller: true, is_up: true }],
  count_before: 4,
  count_after: 3,
};
const drain = { kind: "reassignment", inputs: { drain_broker: 1, throttle_bytes_per_s: 52_428_800 } };

describe("a cluster's number of brokers", () => {
  it("grows by a plan that shows where each goes and why", async () => {
    const { asked } = await open(
      {},
      { "POST /api/v1/plans": plan({ kind: "cluster.add_brokers", diff: added } as never) },
    );
    await rowsOf("Brokers");
    press("Add brokers");
    const field = await screen.findByLabelText("How many more brokers");
    fireEvent.change(field, { target: { value: "2" } });
    press("Show the plan");
    expect(await rowsOf("New brokers")).toEqual([
      ["4", "r1", "10.0.0.4:9092", "Rack r1 has 1 broker of the cluster, as few as any."],
    ]);
    expect(await rowsOf("Defaults that are written down, so that they stay as they are")).toEqual([
      ["default.replication.factor", "1"],
    ]);
    expect(asked.find((one) => one.method === "POST")?.body).toEqual({
      kind: "cluster.add_brokers",
      cluster_id: "c1",
      inputs: { count: 2 },
    });
  });

  it("plans nothing without a number", async () => {
    const { asked } = await open();
    await rowsOf("Brokers");
    press("Add brokers");
    fireEvent.change(await screen.findByLabelText("How many more brokers"), { target: { value: "" } });
    expect(screen.getByRole("button", { name: "Show the plan" }).hasAttribute("disabled")).toBe(true);
    expect(asked.some((one) => one.method === "POST")).toBe(false);
  });

  it("shrinks by a plan that shows who goes in which order", async () => {
    await open({}, { "POST /api/v1/plans": plan({ kind: "cluster.remove_brokers", diff: removed } as never) });
    await rowsOf("Brokers");
    press("Actions for broker 1");
    fireEvent.click(await screen.findByRole("menuitem", { name: "Remove broker" }));
    expect(await rowsOf("Brokers that go, in this order")).toEqual([["1", "1 controller", "–", "10.0.0.1:9092"]]);
  });

  it("names what is in the way and plans the drain first", async () => {
    const said = "Broker 1 still holds replicas of 22 partitions (<b>orders</b>-0, orders-1, …).";
    const refused = new Refusal(409, "Conflict with the current state", said, {
      code: "broker-not-empty",
      partitions: ["<b>orders</b>-0", "orders-1"],
      partitions_total: 22,
      next_plan: drain,
    });
    const { asked } = await open({}, { "POST /api/v1/plans": refused });
    await rowsOf("Brokers");
    press("Actions for broker 1");
    fireEvent.click(await screen.findByRole("menuitem", { name: "Remove broker" }));
    const names = await screen.findByRole("list", { name: "In the way" });
    expect(
      within(names)
        .getAllByRole("listitem")
        .map((one) => one.textContent),
    ).toEqual(["<b>orders</b>-0", "orders-1", "and 20 more"]);
    press("First: reassign partitions");
    await waitFor(() =>
      expect(asked.filter((one) => one.method === "POST").at(-1)?.body).toEqual({
        kind: "reassignment",
        cluster_id: "c1",
        inputs: drain.inputs,
      }),
    );
  });

  it("is left alone where somebody else runs the brokers, and by viewers", async () => {
    await open({ cluster: ok(cluster({ kind: "registered" })) });
    await rowsOf("Brokers");
    expect(screen.queryByRole("button", { name: "Add brokers" })).toBeNull();
  });

  it("offers a viewer nothing", async () => {
    await open({}, { "GET /console/api/session": session({ can_write: false }) });
    await rowsOf("Brokers");
    expect(screen.queryByRole("button", { name: "Add brokers" })).toBeNull();
  });
});

describe("an operation that has added brokers", () => {
  const next = { kind: "reassignment", inputs: { all_topics: true, target_brokers: [1, 2, 3, 4] } };
  const page = (more: Answers) =>
    openPage("/operations/op_1", {
      "GET /console/api/pages/operation/op_1": {
        parts: {
          operation: ok(
            operation({
              kind: "cluster.add_brokers",
              outcome: { next_plan: next },
            }),
          ),
          plan: ok(plan()),
        },
      },
      ...more,
    });

  it("offers the rebalance", async () => {
    const { asked } = await page({
      "POST /api/v1/plans": plan({
        kind: "reassignment",
        diff: { partitions: [], brokers: [], balance: null, limits: [] },
      } as never),
    });
    fireEvent.click(await screen.findByRole("button", { name: "Next: reassign partitions" }));
    await waitFor(() =>
      expect(asked.find((one) => one.method === "POST")?.body).toEqual({ ...next, cluster_id: "c1" }),
    );
  });
});
