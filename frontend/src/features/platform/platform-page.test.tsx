import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fill, heading, openPage, press, rowsOf } from "@/testing/app";
import { ETAG, listed, session } from "@/testing/samples";
import { hostPlan, platformHost, platformUser, tenantSummary } from "@/testing/samples-administration";
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
    "GET /api/v1/operator/alerts": listed([]),
    "GET /api/v1/operator/hosts": {
      data: [
        platformHost(),
        platformHost({ host_id: "host-2", alive: false, state: "cordoned", brokers: 0, broker_list: [] }),
      ],
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
    [
      "what remains keeps it open",
      [
        { kind: "cluster", id: "c1", name: "orders" },
        { kind: "operation", id: "op_1", name: "cluster.add_brokers" },
        { kind: "operation", id: "op_2", name: "of.tomorrow" },
      ],
      true,
    ],
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
    if (isDisabled)
      expect(screen.getByRole("list", { name: "What remains" }).textContent).toBe(
        "cluster ordersoperation: Add brokersoperation: of.tomorrow",
      );
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

  it("lists hosts with their states and what they have left", async () => {
    await open("?tab=hosts");
    const rows = await rowsOf("Hosts");
    expect(rows[0]?.slice(0, 2)).toEqual(["host-1", "active"]);
    expect(rows[0]?.[4]).toContain("25 GiB of 100 GiB");
    expect(rows[1]?.slice(0, 2)).toEqual(["host-2", "cordoned"]);
    expect(screen.getByRole("link", { name: "host-1" }).getAttribute("href")).toBe("/platform/hosts/host-1");
    expect(screen.getByLabelText("Command").textContent).toContain("manage.py zookeeper host");
  });

  it("makes a token by which a host joins, and shows the command once", async () => {
    const { asked } = await open("?tab=hosts", {
      "POST /api/v1/operator/host-tokens": {
        id: "jt_1",
        host_id: "host-9",
        note: "",
        state: "open",
        created_by: "user:root",
        created_at: "2026-11-24T10:00:00Z",
        expires_at: "2026-11-24T11:00:00Z",
        used_at: null,
        used_from: null,
        etag: ETAG,
        token: "psj_1_x",
      },
    });
    await rowsOf("Hosts");
    press("Join token");
    const form = await dialog();
    const button = form.getByRole("button", { name: "Make the token" }) as HTMLButtonElement;
    fill("Name of the host", "../x");
    expect(button.disabled).toBe(true);
    fill("Name of the host", "host-9");
    fireEvent.click(button);
    expect((await screen.findByLabelText("Join command")).textContent).toContain("PENSTOCK_JOIN_TOKEN=psj_1_x ");
    expect(written(asked)).toEqual([
      ["POST", "/api/v1/operator/host-tokens", { host_id: "host-9", note: "", lifetime_s: 3600 }],
    ]);
  });

  it("says why a host stays, and asks for nothing that can only be refused", async () => {
    const { asked } = await open("?tab=hosts", {
      "GET /api/v1/operator/hosts/host-1/plans/remove": hostPlan({
        act: "remove",
        confirm_phrase: "host-1",
        refused: [
          {
            ...{ code: "host-in-use", text: "Fly.", text_code: "host-in-use" },
            params: { names: "orders/1", more: 0 },
          },
        ],
      }),
    });
    await rowsOf("Hosts");
    await choose("host-1", "Remove");
    const form = await dialog();
    expect((await form.findByText("Brokers belong on it: orders/1.")).textContent).toBeTruthy();
    expect((form.getByRole("button", { name: "Remove" }) as HTMLButtonElement).disabled).toBe(true);
    expect(written(asked)).toEqual([]);
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
