import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, press, rowsOf } from "@/testing/app";
import { cluster, plan, session } from "@/testing/samples";
import { type Answers, ok, PENDING, Refusal, unavailable } from "@/testing/server";

const AT = "2026-11-21T10:00:00Z";
const ADDRESS = "/api/v1/clusters/c1/healing";
const healing = {
  mode: "ask",
  replace_after_s: 1800,
  per_day_max: 2,
  windows: [],
  time_zone: "UTC",
  changed_at: AT,
  changed_by: "user:ada",
  window_open: true,
  window_opens_at: null,
  decision: { code: "well", text: "Every host of the cluster is there.", parts: [], at: AT },
  cases: [],
  etag: '"h1"',
};
const proposed = {
  id: "hc_1",
  broker: 2,
  silent_since: AT,
  state: "proposed",
  code: "proposed",
  text: "The host of broker 2 is silent for 1 h.",
  parts: [],
  operation_id: null,
  by: null,
  created_at: AT,
  moved_at: AT,
};
const gone = unavailable("not asked in this test");
const parts = {
  cluster: ok(cluster()),
  attention: ok([]),
  summary: gone,
  loads: ok([]),
  reassignments: gone,
  operations: ok([]),
  events: ok([]),
  client_config: gone,
};
const open = (found: unknown = healing, more: Answers = {}) =>
  openPage("/clusters/c1", {
    "GET /console/api/pages/cluster/c1": { parts },
    [`GET ${ADDRESS}`]: found,
    ...more,
  });

describe("self-healing of a cluster", () => {
  it("says what is done when a host is gone, and what the last look came to", async () => {
    await open();
    expect(await screen.findByText("Every host of the cluster is there.")).toBeTruthy();
    expect(screen.getByText(/Ask first/)).toBeTruthy();
    expect(screen.getByText("No broker was away for so long")).toBeTruthy();
  });

  it("offers the plan of a proposal, and to say no", async () => {
    const { asked } = await open(
      { ...healing, cases: [proposed] },
      {
        "POST /api/v1/plans": plan({ kind: "cluster.replace_broker" } as never),
        [`POST ${ADDRESS}/cases/hc_1/dismissal`]: { ...proposed, state: "dismissed" },
      },
    );
    const [row] = await rowsOf("Cases");
    expect(row?.slice(0, 2)).toEqual(["2", "proposed"]);
    press("Say no");
    await waitFor(() => expect(asked.some((one) => one.url.endsWith("/cases/hc_1/dismissal"))).toBe(true));
    press("Put on another host");
    await waitFor(() =>
      expect(asked.find((one) => one.url.endsWith("/plans"))?.body).toMatchObject({
        kind: "cluster.replace_broker",
        cluster_id: "c1",
        inputs: { broker: 2 },
      }),
    );
  });

  it("says why in its own words, where the service says which sentences they are", async () => {
    const why = { code: "why/silent", params: { broker: "2", silent_ms: 3_600_000 }, text: "Fly." };
    const later = { code: "of-tomorrow", params: {}, text: "Only tomorrow's console knows." };
    const by = { code: "proposed", params: { broker: "2" }, text: "Fly." };
    await open({
      ...healing,
      decision: { code: "of-tomorrow", text: "Fly. Fly.", parts: [why, later], at: AT },
      cases: [{ ...proposed, text: "Fly. Fly.", parts: [why, by] }],
    });
    const [row] = await rowsOf("Cases");
    expect(row?.[2]).toContain(
      "The host of broker 2 is silent for 1 hour. Putting broker 2 on another host is proposed.",
    );
    expect(screen.getByText("The host of broker 2 is silent for 1 hour. Only tomorrow's console knows.")).toBeTruthy();
    expect(screen.queryByText(/Fly/)).toBeNull();
  });

  it("says the service's text of what an earlier version kept", async () => {
    const decision = { code: "too-soon", text: "As before, for 5 min.", parts: [], at: AT };
    await open({ ...healing, decision, cases: [proposed] });
    const [row] = await rowsOf("Cases");
    expect(row?.[2]).toContain("The host of broker 2 is silent for 1 h.");
    expect(screen.getByText("As before, for 5 min.")).toBeTruthy();
  });

  it("is set with its windows, as it was read", async () => {
    const { asked } = await open(healing, { [`PUT ${ADDRESS}`]: healing });
    await screen.findByText("Every host of the cluster is there.");
    press("Change");
    const form = within(await screen.findByRole("dialog"));
    fireEvent.change(form.getByLabelText("When a host is gone"), { target: { value: "automatic" } });
    fireEvent.click(form.getByRole("button", { name: "Add a window" }));
    fireEvent.change(form.getByLabelText("Day of window 1"), { target: { value: "monday" } });
    fireEvent.click(form.getByRole("button", { name: "Save" }));
    await waitFor(() => expect(asked.some((one) => one.method === "PUT")).toBe(true));
    const sent = asked.find((one) => one.method === "PUT");
    expect(sent?.ifMatch).toBe('"h1"');
    expect(sent?.body).toEqual({
      mode: "automatic",
      replace_after_s: 1800,
      per_day_max: 2,
      windows: [{ day: "monday", begins: "02:00", minutes: 120 }],
      time_zone: "UTC",
    });
  });

  it("offers a reader nothing that could only be refused", async () => {
    await open({ ...healing, cases: [proposed] }, { "GET /console/api/session": session({ can_write: false }) });
    await rowsOf("Cases");
    expect(screen.queryByRole("button", { name: "Say no" })).toBeNull();
  });

  it("is not there for who sees a part of the cluster, and says when it cannot be read", async () => {
    await open(new Refusal(404, "Cluster not found."));
    await rowsOf("Brokers");
    // It keeps its place until it is refused.
    await waitFor(() => expect(screen.queryByText("Self-healing")).toBeNull());
  });

  it("keeps its place while it is read", async () => {
    await open(PENDING);
    expect(await screen.findByText("Self-healing")).toBeTruthy();
  });
});
