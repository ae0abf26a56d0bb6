import { screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, press } from "@/testing/app";
import { listed, session } from "@/testing/samples";
import { platformHost } from "@/testing/samples-administration";
import type { Answers } from "@/testing/server";

const HOST = "/api/v1/operator/hosts/host-1";
const drain = {
  began_at: "2026-11-21T10:00:00Z",
  by: "user:root",
  moved: 1,
  left: 2,
  operation_id: "op_1",
  about: "orders/2",
  waiting_for: null,
  waiting_for_parts: [],
  paused_at: null,
  paused_by: null,
  ended_at: null,
};
const open = (change: Partial<typeof drain> | object = {}, more: Answers = {}) =>
  openPage("/platform/hosts/host-1", {
    "GET /console/api/session": session({ user: { username: "root", email: "", is_staff: true } }),
    [`GET ${HOST}`]: platformHost({ state: "draining", drain: { ...drain, ...change } }),
    [`GET ${HOST}/events`]: listed([]),
    ...more,
  });

describe("a host that is drained", () => {
  it("shows how far it is and what is under way", async () => {
    await open();
    expect(await screen.findByText("1 of 3 brokers have left.")).toBeTruthy();
    expect(screen.getByText("orders/2 is on its way to another host.")).toBeTruthy();
    const bar = screen.getByRole("progressbar", { name: "Brokers that have left" }) as HTMLProgressElement;
    expect([bar.value, bar.max]).toEqual([1, 3]);
  });

  it("says what is in the way of the next one", async () => {
    const waiting_for_parts = [
      { code: "lead/about", params: { about: "orders/2" }, text: "" },
      { code: "as-it-came", params: { said: "1 partition with replicas out of sync." }, text: "" },
    ];
    await open({ operation_id: null, about: null, waiting_for: "Fly.", waiting_for_parts });
    expect(await screen.findByText("orders/2: 1 partition with replicas out of sync.")).toBeTruthy();
  });

  it("is paused, and goes on", async () => {
    const { asked } = await open({}, { [`POST ${HOST}/drain`]: platformHost({ state: "draining" }) });
    await screen.findByText("1 of 3 brokers have left.");
    press("Pause");
    await waitFor(() => expect(asked.find((one) => one.method === "POST")?.body).toEqual({ paused: true }));
  });

  it("offers no pause once nothing is left", async () => {
    await open({ moved: 3, left: 0, ended_at: "2026-11-21T11:00:00Z", about: null, operation_id: null });
    expect(await screen.findByText("No broker is left on it: it can be removed, or looked after.")).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Pause" })).toBeNull();
  });
});
