import { fireEvent, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, press, rowsOf } from "@/testing/app";
import { cluster, plan, versions } from "@/testing/samples";
import { type Answers, ok, unavailable } from "@/testing/server";

const release = { is_own: false, is_current: false, software: "0.2.0", digest: "c".repeat(64), oldest: "3.2-IV0" };
const next = { ...release, name: "0.2.0", newest: "3.9-IV0", why_not: null };
const gone = { ...release, name: "0.0.9", newest: "3.8-IV0", why_not: "Not on 1 of the 3 hosts of its brokers." };
const offers = [...versions().offers, next, gone];
const open = (part: object, more: Answers = {}) =>
  openPage("/clusters/c1", {
    "GET /console/api/pages/cluster/c1": {
      parts: {
        cluster: ok(cluster()),
        attention: ok([]),
        summary: ok({ topics: 0, partitions: 0, under_replicated: 0, offline: 0, size_bytes: 0 }),
        loads: ok([]),
        versions: part,
        reassignments: ok({ total: 0, rows: [], unknown: [] }),
        operations: ok([]),
        events: ok([]),
        client_config: unavailable("Later."),
      },
    },
    ...more,
  });
const rolled = { rack: "r1", host: "h1", leaders: 4, replicas: 12, is_controller: false, is_up: true };

describe("the software of the brokers", () => {
  it("shows what each runs, and why other versions are not possible", async () => {
    await open(ok(versions({ offers })));
    expect(await rowsOf("What each broker runs")).toEqual([["1", "agent", "0.1.0", "3.8-IV0"]]);
    expect(screen.getByRole("list", { name: "Versions that the brokers may not run now" }).textContent).toBe(
      "0.0.9: Not on 1 of the 3 hosts of its brokers.",
    );
  });

  it("has all moved by a plan that says from what to what, and whether there is a way back", async () => {
    const diff = {
      version: { before: "agent", after: "0.2.0", software: "0.2.0", digest: "c".repeat(64) },
      protocol: { now: "3.8-IV0", after: "3.8-IV0", newest: "3.9-IV0", changes: ["3.9-IV0: more"] },
      way_back: { is_open: true, text: "Brokers may go back to agent." },
      brokers: [{ ...rolled, id: 1, from_version: "agent", to_version: "0.2.0", from_software: "0.1.0" }],
      canary_s: 0,
    };
    const { asked } = await open(ok(versions({ offers })), {
      "POST /api/v1/plans": plan({ kind: "cluster.upgrade", diff } as never),
    });
    await rowsOf("What each broker runs");
    fireEvent.change(screen.getByLabelText("Change to version"), { target: { value: "0.2.0" } });
    press("Plan the change");
    expect(await rowsOf("Version of each broker")).toEqual([["1", "agent 0.1.0", "0.2.0"]]);
    expect(screen.queryByText("Brokers may go back to agent.")).not.toBeNull();
    expect(screen.queryByText("Brokers go on speaking 3.8-IV0 to each other.")).not.toBeNull();
    expect(asked.find((one) => one.method === "POST")?.body).toEqual({
      kind: "cluster.upgrade",
      cluster_id: "c1",
      inputs: { version: "0.2.0" },
    });
  });

  it("has the protocol raised by a plan that names what cannot be gone back to", async () => {
    const diff = {
      version: "agent",
      protocol: { now: "3.8-IV0", after: "3.9-IV0", newest: "3.9-IV0", changes: [] },
      no_way_back_to: ["0.0.9"],
      brokers: [{ ...rolled, id: 1 }],
      canary_s: 0,
    };
    const { asked } = await open(ok(versions({ protocol_newest: "3.9-IV0" })), {
      "POST /api/v1/plans": plan({ kind: "cluster.finalize_version", diff } as never),
    });
    await rowsOf("What each broker runs");
    press("Raise the protocol to 3.9-IV0");
    expect(await screen.findByText("Afterwards the brokers cannot go back to: 0.0.9.")).not.toBeNull();
    expect(asked.find((one) => one.method === "POST")?.body).toMatchObject({ kind: "cluster.finalize_version" });
  });

  it("offers to bring mixed brokers to one version before the protocol is raised", async () => {
    const brokers = versions().brokers.map((broker) => ({ ...broker, running: "0.2.0" }));
    await open(ok(versions({ is_mixed: true, protocol_newest: "3.9-IV0", brokers })));
    expect(await rowsOf("What each broker runs")).toEqual([["1", "0.2.0 shall run agent", "0.1.0", "3.8-IV0"]]);
    expect(screen.queryByText(/Brokers are of two versions/)).not.toBeNull();
    expect(screen.queryByRole("button", { name: /Raise the protocol/ })).toBeNull();
    expect(screen.queryByRole("button", { name: "Plan the change" })).not.toBeNull();
  });

  it("says what is not known, and offers nothing to who may not change it", async () => {
    const brokers = versions().brokers.map((row) => ({ ...row, running: null, software: null, protocol: null }));
    await open(ok(versions({ may_change: false, protocol: null, software: null, brokers, offers, reported_at: null })));
    expect(await rowsOf("What each broker runs")).toEqual([["1", "not known", "does not say", "does not say"]]);
    expect(screen.queryByRole("button", { name: "Plan the change" })).toBeNull();
  });
});
