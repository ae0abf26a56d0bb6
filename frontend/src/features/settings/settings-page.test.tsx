import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fill, openPage, press, rowsOf } from "@/testing/app";
import { listed, session } from "@/testing/samples";
import { apiKey, invitation, member, serviceAccount } from "@/testing/samples-administration";
import { type Answers, PENDING, Refusal } from "@/testing/server";

const owner = () => session({ tenant: { id: "tn_1", slug: "acme", name: "Acme", role: "owner", state: "active" } });
const open = (search = "", more: Answers = {}) =>
  openPage(`/settings${search}`, {
    "GET /console/api/session": owner(),
    "GET /api/v1/members": listed([member(), member({ username: "bob", role: "viewer", is_active: false })]),
    "GET /api/v1/invitations": listed([invitation(), invitation({ id: "iv_2", note: "", state: "expired" })]),
    "GET /api/v1/service-accounts": listed([
      serviceAccount(),
      serviceAccount({ id: "sa_2", name: "old", disabled: true }),
    ]),
    "GET /api/v1/api-keys": listed([
      apiKey(),
      apiKey({ id: "ak_2", name: "gone", revoked_at: "2026-11-20T10:00:00Z" }),
    ]),
    ...more,
  });
const written = (asked: { method: string; url: string; body: unknown }[]) =>
  asked.filter((one) => one.method !== "GET").map((one) => [one.method, one.url, one.body]);
const dialog = async () => within(await screen.findByRole("dialog"));
const choose = async (of: string, item: string) => {
  press(`Actions for ${of}`);
  fireEvent.click(await screen.findByRole("menuitem", { name: item }));
};

describe("members", () => {
  it("are shown with their roles, invitations with their states", async () => {
    await open();
    expect((await rowsOf("Members")).map((row) => row.slice(0, 2))).toEqual([
      ["ada", "owner"],
      ["boblogin ended", "viewer"],
    ]);
    expect((await rowsOf("Invitations")).map((row) => row.slice(0, 3))).toEqual([
      ["Grace", "viewer", "open"],
      ["–", "viewer", "expired"],
    ]);
  });

  it("are invited by a link that is shown once", async () => {
    const { asked } = await open("", {
      "POST /api/v1/invitations": { ...invitation(), path: "/invitation#psi_a_b" },
    });
    await rowsOf("Members");
    press("Invite");
    const form = await dialog();
    fireEvent.change(form.getByLabelText("Whom it is for"), { target: { value: "Grace" } });
    fireEvent.click(form.getByRole("button", { name: "Make the link" }));
    expect((await screen.findByLabelText("Link")).textContent).toBe(`${window.location.origin}/invitation#psi_a_b`);
    expect(written(asked)).toEqual([
      ["POST", "/api/v1/invitations", { role: "viewer", note: "Grace", lifetime_s: 604_800 }],
    ]);
    press("I have copied it");
    await waitFor(() => expect(screen.queryByLabelText("Link")).toBeNull());
  });

  it("are removed, and the keys that they made are named", async () => {
    const { asked } = await open("", {
      "DELETE /api/v1/members/bob": { invitations_revoked: 1, keys_made: ["nightly"] },
    });
    await rowsOf("Members");
    await choose("bob", "Remove member");
    fireEvent.click((await dialog()).getByRole("button", { name: "Remove member" }));
    expect(
      await screen.findByText(/Keys that they made may do nothing until an owner rotates them: nightly/),
    ).toBeTruthy();
    expect(written(asked)).toEqual([["DELETE", "/api/v1/members/bob", undefined]]);
    expect(asked.filter((one) => one.url.startsWith("/api/v1/members?")).length).toBeGreaterThan(1);
  });

  it("are not changed by whoever has not seen what they are now", async () => {
    const rows = [member({ username: "bob", role: "viewer", etag: '"7"' })];
    const { asked } = await open("", {
      "GET /api/v1/members": () => listed(rows),
      "DELETE /api/v1/members/bob": () => {
        rows[0] = member({ username: "bob", role: "operator", etag: '"8"' });
        return new Refusal(412, "It was changed since you read it", "Somebody else has changed it meanwhile.");
      },
    });
    await rowsOf("Members");
    await choose("bob", "Remove member");
    const form = await dialog();
    fireEvent.click(form.getByRole("button", { name: "Remove member" }));
    expect((await form.findByRole("alert")).textContent).toContain("Somebody else has changed it meanwhile.");
    expect(form.getByText(/Close this form: the list behind it shows what it is now/)).toBeTruthy();
    expect(asked.find((one) => one.method === "DELETE")?.ifMatch).toBe('"7"');
    fireEvent.click(form.getByRole("button", { name: "Cancel" }));
    await waitFor(async () => expect((await rowsOf("Members"))[0]?.[1]).toBe("operator"));
  });

  it("say why a change is refused, and keep the form", async () => {
    await open("", { "DELETE /api/v1/members/ada": new Refusal(409, "Conflict", "ada is the last owner.") });
    await rowsOf("Members");
    await choose("ada", "Remove member");
    const form = await dialog();
    fireEvent.click(form.getByRole("button", { name: "Remove member" }));
    expect((await form.findByRole("alert")).textContent).toContain("ada is the last owner.");
  });

  it("revoke an invitation", async () => {
    const { asked } = await open("", { "DELETE /api/v1/invitations/iv_1": {} });
    await rowsOf("Invitations");
    press("Revoke the invitation for Grace");
    fireEvent.click((await dialog()).getByRole("button", { name: "Revoke" }));
    await waitFor(() => expect(written(asked)).toEqual([["DELETE", "/api/v1/invitations/iv_1", undefined]]));
  });
});

describe("service accounts and keys", () => {
  const TAB = "?tab=accounts";

  it("are shown with what still opens something", async () => {
    await open(TAB);
    expect((await rowsOf("Service accounts")).map((row) => row[0])).toEqual(["olddisabled", "pipeline"]);
    expect((await rowsOf("API keys")).map((row) => [row[0], row[1], row[3]])).toEqual([
      ["ci psk_abc", "pipeline", "live"],
      ["gone psk_abc", "pipeline", "revoked"],
    ]);
    expect(screen.queryByRole("button", { name: "Actions for key gone psk_abc" })).toBeNull();
  });

  it("rotate a key with overlap and show the new one once", async () => {
    const { asked } = await open(TAB, {
      "POST /api/v1/api-keys/ak_1/rotation": {
        ...apiKey({ id: "ak_3" }),
        key: "psk_new",
        replaces: "ak_1",
        replaced_ends_at: "2026-11-22T10:00:00Z",
      },
    });
    await rowsOf("API keys");
    await choose("key ci psk_abc", "Rotate");
    fireEvent.click((await dialog()).getByRole("button", { name: "Make the successor" }));
    expect((await screen.findByLabelText("Key")).textContent).toBe("psk_new");
    expect(written(asked)).toEqual([
      ["POST", "/api/v1/api-keys/ak_1/rotation", { overlap_s: 86_400, expires_at: null }],
    ]);
  });

  it("make a key of an account", async () => {
    const { asked } = await open(TAB, { "POST /api/v1/api-keys": { ...apiKey(), key: "psk_first" } });
    await rowsOf("Service accounts");
    await choose("account pipeline", "New key");
    fireEvent.click((await dialog()).getByRole("button", { name: "Make the key" }));
    expect((await screen.findByLabelText("Key")).textContent).toBe("psk_first");
    expect(written(asked)[0]?.[2]).toMatchObject({ name: "pipeline", scope: "read", service_account_id: "sa_1" });
  });

  it("disable an account", async () => {
    const { asked } = await open(TAB, { "PUT /api/v1/service-accounts/sa_1": serviceAccount({ disabled: true }) });
    await rowsOf("Service accounts");
    await choose("account pipeline", "Change");
    const form = await dialog();
    fireEvent.click(form.getByRole("switch", { name: /Disabled/ }));
    fireEvent.click(form.getByRole("button", { name: "Save" }));
    await waitFor(() =>
      expect(written(asked)).toEqual([
        ["PUT", "/api/v1/service-accounts/sa_1", { description: "nightly loads", disabled: true }],
      ]),
    );
  });
});

describe("settings: states of the page", () => {
  it("shows placeholders while answers are awaited", async () => {
    await open("", { "GET /api/v1/members": PENDING, "GET /api/v1/invitations": PENDING });
    expect(await screen.findAllByLabelText("Loading")).toHaveLength(2);
  });

  it("says why a list cannot be read, and keeps the other", async () => {
    await open("", { "GET /api/v1/members": new Refusal(503, "Away", "The database is busy.") });
    expect((await screen.findByRole("alert")).textContent).toContain("The database is busy.");
    expect(await rowsOf("Invitations")).toHaveLength(2);
  });

  it("has empty lists that say what to do", async () => {
    await open("?tab=accounts", {
      "GET /api/v1/service-accounts": listed([]),
      "GET /api/v1/api-keys": listed([]),
    });
    expect(await screen.findByText("No service accounts yet")).toBeTruthy();
    expect(await screen.findByText("No API keys yet")).toBeTruthy();
  });

  it("says when a list is cut off", async () => {
    await open("", { "GET /api/v1/members": { data: [member()], page: { next: "x", has_more: true } } });
    expect(await screen.findByText(/Only the newest 1 are shown/)).toBeTruthy();
  });

  it.each([
    ["a viewer", session({ tenant: { id: "tn_1", slug: "acme", name: "Acme", role: "viewer", state: "active" } })],
    [
      "the owner of a suspended tenant",
      session({ tenant: { id: "tn_1", slug: "acme", name: "Acme", role: "owner", state: "suspended" } }),
    ],
  ])("offers %s no change", async (_, who) => {
    await open("", { "GET /console/api/session": who });
    await rowsOf("Members");
    expect(screen.queryByRole("button", { name: /Invite|Actions for ada|Revoke/ })).toBeNull();
    fireEvent.click(screen.getByRole("tab", { name: "Service accounts and keys" }));
    await rowsOf("API keys");
    expect(screen.queryByRole("button", { name: /New service account|Actions for key/ })).toBeNull();
  });

  it("keeps what is typed when a form is refused", async () => {
    await open("?tab=accounts", {
      "POST /api/v1/service-accounts": new Refusal(409, "Conflict", "There is a service account called ci."),
    });
    await rowsOf("Service accounts");
    press("New service account");
    await dialog();
    fill("Name", "ci");
    press("Make it");
    expect((await screen.findByRole("alert")).textContent).toContain("called ci");
    expect((screen.getByLabelText("Name") as HTMLInputElement).value).toBe("ci");
  });
});
