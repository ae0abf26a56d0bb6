import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { figure, fill, heading, openPage, press, rowsOf } from "@/testing/app";
import { event, listed, session } from "@/testing/samples";
import { hostMove, hostPlan, platformHost } from "@/testing/samples-administration";
import { type Answers, PENDING, Refusal } from "@/testing/server";

const HOST = "/api/v1/operator/hosts/host-1";
const open = (host = platformHost(), more: Answers = {}) =>
  openPage("/platform/hosts/host-1", {
    "GET /console/api/session": session({ user: { username: "root", email: "", is_staff: true } }),
    [`GET ${HOST}`]: host,
    "GET /api/v1/operator/alerts": listed([]),
    [`GET ${HOST}/events`]: listed([event({ action: "host.cordon", reason: "a new disk" })]),
    ...more,
  });
const written = (asked: { method: string; url: string; body: unknown }[]) =>
  asked.filter((one) => one.method !== "GET").map((one) => [one.method, one.url, one.body]);
const dialog = async () => within(await screen.findByRole("dialog"));
const UNKNOWN = {
  ...platformHost().capacity,
  disk_total_bytes: null,
  disk_free_bytes: null,
  memory_total_bytes: null,
  memory_free_bytes: null,
  cores: null,
  load: null,
  ports_free: null,
  reported_at: null,
  age_s: null,
  problem: "Its agent has reported no capacity.",
};

describe("a host", () => {
  it("shows what was decided, what it has left, what runs there and what was done", async () => {
    await open();
    expect(await rowsOf("Brokers")).toEqual([["acme", "orders", "1", expect.stringContaining("running")]]);
    expect(heading()).toBe("host-1");
    expect(figure("Disk free")).toContain("25 GiB of 100 GiB");
    expect(figure("Load")).toBe("0.50on 4 cores");
    expect(figure("Ports free")).toBe("7of 9");
    expect(screen.getByText("disk=nvme")).toBeTruthy();
    expect((await screen.findByRole("list", { name: "Events" })).textContent).toContain("a new disk");
  });

  it("says of what is not known that it is not known", async () => {
    await open(platformHost({ capacity: UNKNOWN, broker_list: [], brokers: 0 }));
    expect((await screen.findAllByText("Its agent has reported no capacity.")).length).toBe(1);
    for (const name of ["Disk free", "Memory free", "Load", "Ports free"]) expect(figure(name)).toContain("not known");
    expect(screen.getByText("No brokers")).toBeTruthy();
  });

  it("is declared lost by its typed name, as its plan says", async () => {
    const { asked } = await open(platformHost({ alive: false }), {
      [`GET ${HOST}/plans/declare-lost`]: hostPlan({
        act: "declare-lost",
        confirm_phrase: "host-1",
        warnings: [
          {
            ...{ code: "loss-unknown", severity: "danger", text: "Fly.", text_code: "loss-unknown" },
            params: { host: "host-1", cluster: "orders" },
          },
        ],
        brokers: [
          hostMove({
            ...{ target_host_id: null, reason: null, reason_code: null, reason_params: {} },
            why_nowhere: "host-2: Fly.",
            why_nowhere_parts: [
              { code: "lead/host", params: { host: "host-2" }, text: "host-2:" },
              { code: "cordoned", params: {}, text: "Fly." },
            ],
          }),
        ],
      }),
      [`POST ${HOST}/loss`]: platformHost({ state: "lost" }),
    });
    await rowsOf("Brokers");
    press("Declare lost");
    const form = await dialog();
    expect(await form.findByText("What only host-1 has of orders is not known.")).toBeTruthy();
    expect(form.getByText("host-2: It is cordoned.")).toBeTruthy();
    const button = form.getByRole("button", { name: "Declare lost" }) as HTMLButtonElement;
    expect(button.disabled).toBe(true);
    fill("Reason", "fire");
    fill("Type host-1 to confirm", "host-1");
    expect(button.disabled).toBe(false);
    fireEvent.click(button);
    await waitFor(() =>
      expect(written(asked)).toEqual([
        ["POST", `${HOST}/loss`, { plan_hash: "hash", confirm: "host-1", reason: "fire" }],
      ]),
    );
  });

  it("is cordoned", async () => {
    const { asked } = await open(platformHost(), {
      [`GET ${HOST}/plans/cordon`]: hostPlan(),
      [`PUT ${HOST}`]: platformHost({ state: "cordoned" }),
    });
    await rowsOf("Brokers");
    press("Cordon");
    const form = await dialog();
    await form.findByText(hostPlan().summary);
    fireEvent.click(form.getByRole("button", { name: "Cordon" }));
    await waitFor(() => expect(written(asked)).toEqual([["PUT", HOST, { state: "cordoned", reason: "" }]]));
    expect(await screen.findByText("host-1 gets no more brokers.")).toBeTruthy();
  });

  it("shows what was lost with it, and what keeps that from serving", async () => {
    const lost = {
      broker_id: 3,
      cluster: "orders",
      cluster_id: "c1",
      tenant: "acme",
      declared_at: "2026-11-24T10:00:00Z",
      declared_by: "user:root",
      fenced_at: null,
      directory_ids: [],
    };
    await open(platformHost({ state: "lost", lost_brokers: [lost] }));
    expect((await rowsOf("Lost with this host"))[0]?.[2]).toBe("not yet: ZooKeeper has not been told");
    expect(screen.getByRole("button", { name: "Take back" })).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Drain" })).toBeNull();
  });

  it("shows hostile text as text", async () => {
    const text = "<img src=x onerror=alert(1)>";
    await open(platformHost({ state: "cordoned", state_by: "user:x", state_reason: text }));
    expect(await screen.findByText(text)).toBeTruthy();
    expect(document.querySelector("img[src='x']")).toBeNull();
  });

  it("shows placeholders while it is awaited, and why it cannot be read", async () => {
    await open(platformHost(), { [`GET ${HOST}`]: PENDING });
    expect(await screen.findByLabelText("Loading")).toBeTruthy();
  });

  it.each([
    [404, "Host not found."],
    [503, "ZooKeeper does not answer."],
  ])("says a refusal of %i", async (status, text) => {
    await open(platformHost(), { [`GET ${HOST}`]: new Refusal(status, "No", text) });
    expect(await screen.findByText(text)).toBeTruthy();
  });
});
