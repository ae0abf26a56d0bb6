import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fill, heading, openPage, press, rowsOf } from "@/testing/app";
import { listed, session } from "@/testing/samples";
import { platformHost, platformUser, tenantSummary } from "@/testing/samples-administration";
import { type Answers, PENDING, Refusal } from "@/testing/server";

const operator = () => session({ user: { username: "root", email: "", is_staff: true } });
const open = (search = "", more: Answers = {}) =>
  openPage(`/platform${search}`, {
    "GET /console/api/session": operator(),
    "GET /api/v1/operator/tenants": listed([
      tenantSummary(),
      tenantSummary({ id: "tn_2", slug: "old", name: "Old", state: "suspended", owners: 0 }),
    ]),
    "GET /api/v1/operator/users": listed([
      platformUser(),
      platformUser({ username: "root", is_operator: true }),
      platformUser({ username: "gone", is_active: false }),
    ]),
    "GET /api/v1/operator/hosts": {
      data: [platformHost(), platformHost({ host_id: "host-2", alive: false, drained: true, broker_list: [] })],
    },
    ...more,
  });
const written = (asked: { method: string; url: string; body: unknown }[]) =>
  asked.filter((one) => one.method !== "GET").map((one) => [one.method, one.url, one.body]);
const dialog = async () => within(await screen.findByRole("dialog"));
const choose = async (of: string, item: string) => {
  press(`Actions for ${of}`);
  fireEvent.click(await screen.findByRole("menuitem", { name: item }));
};

describe("the platform", () => {
  it("is not for others, and nothing is asked for them", async () => {
    const { asked } = await open("", { "GET /console/api/session": session() });
    await waitFor(() => expect(heading()).toBe("This is for operators of the platform"));
    expect(asked.filter((one) => one.url.includes("/operator/"))).toEqual([]);
    expect(screen.queryByRole("link", { name: "Platform" })).toBeNull();
  });

  it("shows tenants with their states, and one without an owner", async () => {
    await open();
    expect((await rowsOf("Tenants")).map((row) => row.slice(0, 5))).toEqual([
      ["Acme acme", "active", "3", "1", "2"],
      ["Old old", "suspended", "3", "none", "2"],
    ]);
    expect(screen.getByRole("link", { name: "Platform" })).toBeTruthy();
  });

  it("suspends a tenant", async () => {
    const { asked } = await open("", {
      "PUT /api/v1/operator/tenants/tn_1": tenantSummary({ state: "suspended" }),
    });
    await rowsOf("Tenants");
    await choose("acme", "Suspend");
    await waitFor(() =>
      expect(written(asked)).toEqual([["PUT", "/api/v1/operator/tenants/tn_1", { name: "Acme", state: "suspended" }]]),
    );
    expect(await screen.findByText("Acme is suspended.")).toBeTruthy();
  });

  it.each([
    ["what remains keeps it open", [{ kind: "cluster", id: "c1", name: "orders" }], true],
    ["an empty one is closed by its typed name", [], false],
  ])("closes a tenant: %s", async (_, remains, isDisabled) => {
    await open("", {
      "GET /api/v1/operator/tenants/tn_2": { ...tenantSummary({ id: "tn_2" }), remains, member_list: [] },
    });
    await rowsOf("Tenants");
    await choose("old", "Close");
    const form = await dialog();
    await waitFor(() => expect(screen.queryByLabelText("Loading")).toBeNull());
    const button = form.getByRole("button", { name: "Close the tenant" });
    expect((button as HTMLButtonElement).disabled).toBe(true);
    fill("Type old to close it", "old");
    expect((button as HTMLButtonElement).disabled).toBe(isDisabled);
    if (isDisabled) expect(screen.getByRole("list", { name: "What remains" }).textContent).toBe("cluster orders");
  });

  it("makes a user and shows the link once", async () => {
    const { asked } = await open("?tab=users", {
      "POST /api/v1/operator/users": {
        ...platformUser({ username: "new" }),
        link: { path: "/invitation#psi_x_y", expires_at: "2026-11-24T10:00:00Z" },
      },
    });
    await rowsOf("Users");
    press("New user");
    await dialog();
    fill("User name", "new");
    press("Make the user");
    expect((await screen.findByLabelText("Link")).textContent).toBe(`${window.location.origin}/invitation#psi_x_y`);
    expect(written(asked)).toEqual([
      ["POST", "/api/v1/operator/users", { username: "new", email: "", is_operator: false }],
    ]);
  });

  it("ends a login and names the tenants that have no owner now", async () => {
    await open("?tab=users", {
      "PUT /api/v1/operator/users/ada": {
        ...platformUser({ is_active: false }),
        tenants_without_owner: ["acme"],
        link: null,
      },
    });
    expect((await rowsOf("Users")).map((row) => row[1])).toEqual(["active", "ended", "active"]);
    await choose("ada", "Change");
    const form = await dialog();
    fireEvent.click(form.getByRole("switch", { name: /May sign in/ }));
    fireEvent.click(form.getByRole("button", { name: "End the login" }));
    expect(await screen.findByText(/These tenants have no owner now: acme/)).toBeTruthy();
  });

  it("shows what runs on each host, or that it is not known", async () => {
    await open("?tab=hosts");
    const rows = await rowsOf("Hosts");
    expect(rows[0]?.[3]).toContain("acme/orders/1 running");
    expect(rows[1]?.slice(0, 1)).toEqual(["host-2drained"]);
    expect(rows[1]?.[3]).toBe("nothing");
    expect(screen.getByLabelText("Command").textContent).toContain("manage.py zookeeper host");
  });

  it("says why a host stays", async () => {
    await open("?tab=hosts", {
      "DELETE /api/v1/operator/hosts/host-1": new Refusal(409, "Conflict", "Brokers belong on host-1: orders/1."),
    });
    await rowsOf("Hosts");
    await choose("host-1", "Remove");
    const form = await dialog();
    fireEvent.click(form.getByRole("button", { name: "Remove" }));
    expect((await form.findByRole("alert")).textContent).toContain("Brokers belong on host-1");
  });

  it.each([
    ["tenants", ""],
    ["users", "?tab=users"],
    ["hosts", "?tab=hosts"],
  ])("shows placeholders while %s are awaited", async (name, search) => {
    await open(search, { [`GET /api/v1/operator/${name}`]: PENDING });
    expect(await screen.findByLabelText("Loading")).toBeTruthy();
  });

  it("says why a list cannot be read, and asks again on request", async () => {
    const { asked } = await open("?tab=hosts", {
      "GET /api/v1/operator/hosts": new Refusal(503, "A part is away", "ZooKeeper does not answer."),
    });
    expect((await screen.findByRole("alert")).textContent).toContain("ZooKeeper does not answer.");
    const before = asked.length;
    press("Try again");
    await waitFor(() => expect(asked.length).toBeGreaterThan(before));
  });

  it("has empty lists that say what comes", async () => {
    await open("?tab=hosts", { "GET /api/v1/operator/hosts": { data: [] } });
    expect(await screen.findByText("No hosts yet")).toBeTruthy();
  });
});
