import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { Grant } from "@/lib/types";
import { openPage, press, rowsOf } from "@/testing/app";
import { listed, session } from "@/testing/samples";
import { apiKey, member, serviceAccount } from "@/testing/samples-administration";
import { type Answers, Refusal } from "@/testing/server";

const TEAM: Grant = {
  role: "operator",
  clusters: { match: "any", name: "" },
  over: "topic",
  names: { match: "prefix", name: "team-a-" },
};
const open = (search = "", more: Answers = {}) =>
  openPage(`/settings${search}`, {
    "GET /console/api/session": session({
      tenant: { id: "tn_1", slug: "acme", name: "Acme", role: "owner", state: "active" },
    }),
    "GET /api/v1/members": listed([member(), member({ username: "bob", role: "limited", grants: [TEAM] })]),
    "GET /api/v1/invitations": listed([]),
    "GET /api/v1/service-accounts": listed([serviceAccount()]),
    "GET /api/v1/api-keys": listed([apiKey({ scope: "limited", grants: [TEAM] })]),
    "GET /api/v1/clusters/c1/topics": {
      data: [{ name: "team-a-x" }, { name: "team-ab" }, { name: "sales" }],
      page: { next: null, has_more: false },
    },
    ...more,
  });
const input = (label: string) => screen.getByLabelText(label, { selector: "input" });
const pick = async (label: string, option: string) => {
  fireEvent.click(input(label));
  fireEvent.click(await screen.findByRole("option", { name: option }));
};
const edit = async (who: string) => {
  await rowsOf("Members");
  press(`Actions for ${who}`);
  fireEvent.click(await screen.findByRole("menuitem", { name: "Change role and grants" }));
  return within(await screen.findByRole("dialog"));
};

describe("grants of members", () => {
  it("are shown beside the role", async () => {
    await open();
    expect((await rowsOf("Members")).map((row) => row[1])).toEqual([
      "owner",
      "operator: topics team-a-… on every cluster",
    ]);
  });

  it("are edited, said in words, previewed, and sent", async () => {
    const changed = member({ username: "bob", role: "limited", grants: [] });
    const { asked } = await open("", { "PUT /api/v1/members/bob": changed });
    const form = await edit("bob");
    expect(form.getByText(/Reads and changes topics whose names begin with “team-a-”/)).toBeTruthy();
    expect(await form.findByText(/Now 1 topic: team-a-x\./)).toBeTruthy();
    fireEvent.change(input("Beginning of topics"), { target: { value: "team-" } });
    expect(await form.findByText(/Now 2 topics: team-a-x, team-ab\./)).toBeTruthy();
    fireEvent.click(form.getByRole("button", { name: "Change" }));
    await waitFor(() => expect(asked.some((one) => one.method === "PUT")).toBe(true));
    expect(asked.find((one) => one.method === "PUT")?.body).toEqual({
      role: "limited",
      grants: [{ ...TEAM, names: { match: "prefix", name: "team-" } }],
    });
  });

  it("cannot be sent while a prefix would cover another team", async () => {
    await open();
    const form = await edit("bob");
    fireEvent.change(input("Beginning of topics"), { target: { value: "team-a" } });
    expect(form.getByText(/team-a does not cover team-ab/)).toBeTruthy();
    expect((form.getByRole("button", { name: "Change" }) as HTMLButtonElement).disabled).toBe(true);
  });

  it("end with a role over everything, which is said before", async () => {
    const { asked } = await open("", { "PUT /api/v1/members/bob": member({ username: "bob", role: "operator" }) });
    const form = await edit("bob");
    // The member's role stands before those of the grants.
    fireEvent.click(screen.getAllByLabelText("Role", { selector: "input" })[0] as HTMLElement);
    fireEvent.click((await screen.findAllByRole("option", { name: "Operator: reads and changes" }))[0] as HTMLElement);
    expect(await form.findByText(/1 grant beside the old one end/)).toBeTruthy();
    fireEvent.click(form.getByRole("button", { name: "Change" }));
    await waitFor(() =>
      expect(asked.find((one) => one.method === "PUT")?.body).toEqual({ role: "operator", grants: [] }),
    );
  });

  it("name the field that is refused, and keep what was typed", async () => {
    const errors = [{ pointer: "/grants/0", code: "beyond-own", detail: "Nobody gives more than they have." }];
    await open("", {
      "PUT /api/v1/members/bob": new Refusal(403, "This needs a stronger role", "Nobody gives more.", { errors }),
    });
    const form = await edit("bob");
    fireEvent.change(input("Beginning of topics"), { target: { value: "team-" } });
    fireEvent.click(form.getByRole("button", { name: "Change" }));
    const refusal = await form.findByRole("alert");
    // The names of fields are loaded when one is needed.
    await waitFor(() => expect(refusal.textContent).toContain("Grants 1: Nobody gives more than they have."));
    expect((input("Beginning of topics") as HTMLInputElement).value).toBe("team-");
  });

  it("are previewed as not known when the topics cannot be read", async () => {
    await open("", { "GET /api/v1/clusters/c1/topics": new Refusal(503, "Away") });
    const form = await edit("bob");
    expect(await form.findByText(/now could not be read/)).toBeTruthy();
  });
});

describe("grants of keys", () => {
  it("are shown, and given to a new key", async () => {
    const { asked } = await open("?tab=accounts", { "POST /api/v1/api-keys": { ...apiKey(), key: "psk_first" } });
    expect((await rowsOf("API keys")).map((row) => row[2])).toEqual(["operator: topics team-a-… on every cluster"]);
    press("Actions for account pipeline");
    fireEvent.click(await screen.findByRole("menuitem", { name: "New key" }));
    const form = within(await screen.findByRole("dialog"));
    await pick("May", "By grants only");
    const make = form.getByRole("button", { name: "Make the key" }) as HTMLButtonElement;
    expect(make.disabled).toBe(true);
    fireEvent.change(input("Beginning of topics"), { target: { value: "team-a-" } });
    fireEvent.click(make);
    expect((await screen.findByLabelText("Key")).textContent).toBe("psk_first");
    expect(asked.find((one) => one.method === "POST")?.body).toMatchObject({
      scope: "limited",
      grants: [{ ...TEAM, role: "viewer" }],
    });
  });
});
