import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, rowsOf } from "@/testing/app";
import { cluster, session } from "@/testing/samples";
import { type Answers, ok, PENDING, Refusal, unavailable } from "@/testing/server";

const AT = "2026-11-21T10:00:00Z";
const ADDRESS = "/api/v1/clusters/c1/rebalance-schedule";
const TITLE = "Scheduled rebalance";
const schedule = {
  enabled: true,
  threshold_percent: 20,
  throttle_bytes_per_s: 10 * 2 ** 20,
  windows: [],
  time_zone: "UTC",
  changed_at: AT,
  changed_by: "user:ada",
  window_open: true,
  window_opens_at: null,
  decision: { code: "balanced", text: "Brokers are at most 3 % from the mean.", parts: [], at: AT },
  bytes_percent: 3.2,
  leaders_percent: null,
  looked_at: AT,
  runs: [],
  etag: '"s1"',
};
const run = {
  id: "rb_1",
  state: "succeeded",
  operation_id: "op_1",
  reason: "Broker 3 holds <b>16 GiB</b>.",
  reason_parts: [],
  result: "Move 12 partitions.",
  bytes_before: 60,
  bytes_after: 4,
  leaders_before: 0,
  leaders_after: null,
  began_at: AT,
  ended_at: AT,
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
const open = (found: unknown = schedule, more: Answers = {}) =>
  openPage("/clusters/c1", {
    "GET /console/api/pages/cluster/c1": { parts },
    [`GET ${ADDRESS}`]: found,
    ...more,
  });
const card = async () =>
  within((await screen.findByRole("heading", { name: TITLE })).closest("section") as HTMLElement);

describe("the scheduled rebalance of a cluster", () => {
  it("says when it begins, what the last look came to, and what is not known", async () => {
    await open();
    expect(await screen.findByText("Brokers are at most 3 % from the mean.")).toBeTruthy();
    expect(screen.getByText(/more than 20 % from the mean/)).toBeTruthy();
    expect(screen.getByText(/Furthest from the mean:/).textContent).toMatch(/3\.2 % by bytes, not known by preferred/);
    expect(screen.getByText("None has begun yet")).toBeTruthy();
  });

  it("says what was decided, and why one began, by the service's codes", async () => {
    const behind = { code: "under-replicated", params: { partitions: 2 }, text: "Fly." };
    const refused = { code: "refused", params: { said: "No room." }, text: "Fly." };
    // Its figures are rounded by the service, and stand exactly in the next columns.
    const far = {
      code: "far/leaders",
      params: { broker: "3", partitions: 20, percent: 100, mean: 10.5 },
      text: "Broker 3 is the preferred leader of 20 partitions, 100 % from the mean of 10.5.",
    };
    await open({
      ...schedule,
      decision: { code: "no-room", text: "Fly. Fly.", parts: [behind, refused], at: AT },
      runs: [{ ...run, reason: "Fly.", reason_parts: [far] }],
    });
    expect(
      await screen.findByText("2 partitions are not in sync on all of their brokers. It is refused: No room."),
    ).toBeTruthy();
    const [row] = await rowsOf("Scheduled rebalances");
    expect(row?.[2]).toContain(`${far.text} Move 12 partitions.`);
    expect(screen.queryByText(/Fly/)).toBeNull();
  });

  it("shows what was begun, why, and how balanced it is since; names are text", async () => {
    await open({ ...schedule, runs: [run, { ...run, id: "rb_2", state: "running", result: null }] });
    const [first, second] = await rowsOf("Scheduled rebalances");
    expect(first?.[1]).toBe("succeeded");
    expect(first?.[2]).toContain("Broker 3 holds <b>16 GiB</b>. Move 12 partitions.");
    expect(first?.[3]).toBe("60 % → 4 %");
    expect(first?.[4]).toBe("0 % → not known");
    expect(second?.slice(1, 2)).toEqual(["under way"]);
    expect(second?.[3]).toBe("60 %");
  });

  it("is off without more ado", async () => {
    await open({ ...schedule, enabled: false, decision: null, looked_at: null });
    expect(await screen.findByText("Partitions move only when somebody plans it.", { exact: false })).toBeTruthy();
    expect(screen.queryByText("None has begun yet")).toBeNull();
  });

  it("is set with its windows, as it was read", async () => {
    const { asked } = await open({ ...schedule, enabled: false }, { [`PUT ${ADDRESS}`]: schedule });
    fireEvent.click(await (await card()).findByRole("button", { name: "Change the schedule" }));
    const form = within(await screen.findByRole("dialog"));
    fireEvent.click(form.getByLabelText("Rebalance this cluster by itself"));
    fireEvent.change(form.getByLabelText("Above, % from the mean"), { target: { value: "35" } });
    fireEvent.click(form.getByRole("button", { name: "Add a window" }));
    fireEvent.click(form.getByRole("button", { name: "Save" }));
    await waitFor(() => expect(asked.some((one) => one.method === "PUT")).toBe(true));
    const sent = asked.find((one) => one.method === "PUT");
    expect(sent?.ifMatch).toBe('"s1"');
    expect(sent?.body).toEqual({
      enabled: true,
      threshold_percent: 35,
      throttle_bytes_per_s: 10 * 2 ** 20,
      windows: [{ day: "sunday", begins: "02:00", minutes: 120 }],
      time_zone: "UTC",
    });
  });

  it("offers a reader nothing that could only be refused", async () => {
    await open(schedule, { "GET /console/api/session": session({ can_write: false }) });
    await screen.findByText("Brokers are at most 3 % from the mean.");
    expect((await card()).queryByRole("button", { name: "Change the schedule" })).toBeNull();
  });

  it("says when it cannot be read", async () => {
    await open(new Refusal(503, "The database does not answer."));
    expect(await (await card()).findByText(/The database does not answer/)).toBeTruthy();
  });

  it("is not there for who sees a part of the cluster", async () => {
    await open(new Refusal(404, "Cluster not found."));
    await rowsOf("Brokers");
    await waitFor(() => expect(screen.queryByText(TITLE)).toBeNull());
  });

  it("keeps its place while it is read", async () => {
    await open(PENDING);
    expect(await screen.findByText(TITLE)).toBeTruthy();
  });
});
