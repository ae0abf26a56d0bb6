import { screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, press } from "@/testing/app";
import { listed, session } from "@/testing/samples";
import { platformHost } from "@/testing/samples-administration";
import { type Answers, Refusal } from "@/testing/server";

const HOST = "/api/v1/operator/hosts/host-1";
const [OLD, NEW] = ["zk-1:2181,zk-2:2181", "zk-4:2181,zk-5:2181"];
const FOLLOW = "Have brokers follow the agent";
const zookeeper = { connect: NEW, ensemble: "0c6b1c9a@7", is_ours: true, brokers_elsewhere: 1 };
const broker = { ...platformHost().broker_list[0], zookeeper: OLD, runs_zookeeper: OLD };
const change = {
  ...{ connect: NEW, by: "user:root", began_at: "2026-11-21T10:00:00Z", clusters_moved: 0, brokers_left: 1 },
  ...{ operation_id: "op_1", about: "orders", waiting_for: null, waiting_for_parts: [], ended_at: null },
};
const host = (more: object = {}) => platformHost({ zookeeper, broker_list: [broker], ...more } as never);
const open = (found: unknown = host(), more: Answers = {}) =>
  openPage("/platform/hosts/host-1", {
    "GET /console/api/session": session({ user: { username: "root", email: "", is_staff: true } }),
    [`GET ${HOST}`]: found,
    [`GET ${HOST}/events`]: listed([]),
    ...more,
  });
const shown = async () => (await screen.findByRole("table", { name: "ZooKeeper" })).textContent ?? "";

describe("how a host reaches ZooKeeper", () => {
  it("names the agent's string, the ensemble, and brokers with another one, and has them follow", async () => {
    const { asked } = await open(host(), { [`POST ${HOST}/zookeeper`]: host({ zookeeper_change: change }) });
    const text = await shown();
    for (const each of [NEW, OLD, "0c6b1c9a@7", "the service's own", "1 of 1 broker"]) expect(text).toContain(each);
    press(FOLLOW);
    await waitFor(() => expect(asked.find((one) => one.method === "POST")?.body).toEqual({ connect: NEW }));
  });

  it("shows how far it is, what is in the way, and stops", async () => {
    const { asked } = await open(
      host({ zookeeper_change: { ...change, waiting_for: "payments: The agent of broker 2's host is away." } }),
      { [`POST ${HOST}/zookeeper`]: host() },
    );
    expect(await screen.findByText("The brokers of orders are on their way.")).toBeTruthy();
    expect(screen.getByText("payments: The agent of broker 2's host is away.")).toBeTruthy();
    press("Move no other cluster");
    await waitFor(() => expect(asked.find((one) => one.method === "POST")?.body).toEqual({ connect: null }));
  });

  it("says why it was refused", async () => {
    await open(host(), {
      [`POST ${HOST}/zookeeper`]: new Refusal(422, "The host's agent uses another connect string"),
    });
    await shown();
    press(FOLLOW);
    expect(await screen.findByText("The host's agent uses another connect string", { exact: false })).toBeTruthy();
  });

  it("says unknown of an agent that does not say it, and offers nothing", async () => {
    await open(
      host({
        zookeeper: { connect: null, ensemble: null, is_ours: null, brokers_elsewhere: null },
        broker_list: [{ ...broker, runs_zookeeper: null }],
      }),
    );
    const text = await shown();
    expect(text.match(/not known/g)?.length).toBe(3);
    expect(text).toContain("1 broker");
    expect(screen.queryByRole("button", { name: FOLLOW })).toBeNull();
  });

  it("warns of another ensemble, and offers nothing while the agent is away", async () => {
    await open(host({ alive: false, zookeeper: { ...zookeeper, is_ours: false } }));
    expect(await shown()).toContain("not the service's");
    expect(screen.queryByRole("button", { name: FOLLOW })).toBeNull();
    expect(screen.getByText(/The agent is away: only/)).toBeTruthy();
  });
});
