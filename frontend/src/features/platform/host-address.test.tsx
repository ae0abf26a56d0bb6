import { screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, press } from "@/testing/app";
import { listed, session } from "@/testing/samples";
import { platformHost } from "@/testing/samples-administration";
import { type Answers, Refusal } from "@/testing/server";

const HOST = "/api/v1/operator/hosts/host-1";
const TITLE = "Another address";
const broker = {
  broker_id: 1,
  cluster: "orders",
  cluster_id: "c1",
  tenant: "acme",
  address: "10.0.0.1",
  observed_state: "running",
  zookeeper: "10.0.2.1:2181",
  runs_zookeeper: null,
  observed_at: null,
};
const change = {
  address: "10.0.0.9",
  by: "user:root",
  began_at: "2026-11-21T10:00:00Z",
  clusters_moved: 0,
  brokers_left: 1,
  operation_id: "op_1",
  about: "orders",
  waiting_for: null,
  waiting_for_parts: [],
  ended_at: null,
};
const host = (more: object = {}) =>
  platformHost({ address: "10.0.0.9", broker_list: [broker], address_change: null, ...more });
const open = (found: unknown = host(), more: Answers = {}) =>
  openPage("/platform/hosts/host-1", {
    "GET /console/api/session": session({ user: { username: "root", email: "", is_staff: true } }),
    [`GET ${HOST}`]: found,
    [`GET ${HOST}/events`]: listed([]),
    ...more,
  });

describe("a host with another address than its brokers advertise", () => {
  it("says so, and has them follow", async () => {
    const { asked } = await open(host(), { [`POST ${HOST}/address`]: host({ address_change: change }) });
    expect((await screen.findByText(/1 broker advertises/)).textContent).toContain("10.0.0.1");
    press("Follow the new address");
    await waitFor(() => expect(asked.find((one) => one.method === "POST")?.body).toEqual({ address: "10.0.0.9" }));
  });

  it("shows how far it is, what is in the way, and stops", async () => {
    const { asked } = await open(
      host({ address_change: { ...change, waiting_for: "payments: 1 partition with replicas out of sync." } }),
      { [`POST ${HOST}/address`]: host() },
    );
    expect(await screen.findByText("The brokers of orders are on their way.")).toBeTruthy();
    expect(screen.getByText("payments: 1 partition with replicas out of sync.")).toBeTruthy();
    press("Stop before the next cluster");
    await waitFor(() => expect(asked.find((one) => one.method === "POST")?.body).toEqual({ address: null }));
  });

  it("says why it was refused", async () => {
    await open(host(), { [`POST ${HOST}/address`]: new Refusal(422, "The host's agent is away.") });
    await screen.findByText(/1 broker advertises/);
    press("Follow the new address");
    expect(await screen.findByText("The host's agent is away.", { exact: false })).toBeTruthy();
  });

  it("offers nothing while the agent is away", async () => {
    await open(host({ alive: false }));
    expect(await screen.findByText(TITLE)).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Follow the new address" })).toBeNull();
  });

  it("is not there where all agree", async () => {
    await open(host({ broker_list: [{ ...broker, address: "10.0.0.9" }] }));
    await screen.findByRole("heading", { name: /host-1/ });
    expect(screen.queryByText(TITLE)).toBeNull();
  });
});
