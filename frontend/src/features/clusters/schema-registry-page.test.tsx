import { screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { SchemaRegistry } from "@/lib/types";
import { fill, openPage, press } from "@/testing/app";
import { session } from "@/testing/samples";
import { type Answers, PENDING, Refusal } from "@/testing/server";

const PATH = "/clusters/c1/schema-registry";
const AT = "/api/v1/clusters/c1/schema-registry";
const registry = (more: Partial<SchemaRegistry> = {}): SchemaRegistry => ({
  url: "https://schemas.example.org",
  username: "reader",
  ca_pem: "",
  has_password: true,
  changed_at: "2026-11-26T00:00:00Z",
  etag: '"7"',
  ...more,
});
const NONE = registry({ url: "", username: "", has_password: false, changed_at: null });
const as = (role: string) => {
  const found = session();
  return { "GET /console/api/session": { ...found, tenant: found.tenant && { ...found.tenant, role } } };
};
const open = (answers: Answers = {}, role = "owner") =>
  openPage(PATH, { ...as(role), [`GET ${AT}`]: registry(), ...answers });
const sent = (asked: { method: string; url: string; body?: unknown }[], method: string) =>
  asked.filter((one) => one.method === method && one.url.startsWith(AT)).map((one) => one.body);

describe("the schema registry of a cluster", () => {
  it("says where it is, and of the password only that there is one", async () => {
    await open();
    expect(await screen.findByText("https://schemas.example.org")).toBeTruthy();
    expect(screen.getByText("reader")).toBeTruthy();
    expect(screen.getByText("kept sealed; shown nowhere")).toBeTruthy();
  });

  it("is changed under the tag that was read, and the password stays when none is typed", async () => {
    const { asked } = await open({ [`PUT ${AT}`]: registry() });
    await screen.findByText("https://schemas.example.org");
    press("Change");
    expect(await screen.findByText("One is kept: leave this empty to go on with it.")).toBeTruthy();
    fill("User", "writer");
    press("Save");
    await waitFor(() =>
      expect(sent(asked, "PUT")).toEqual([{ url: "https://schemas.example.org", username: "writer", ca_pem: "" }]),
    );
    expect(asked.find((one) => one.method === "PUT")?.ifMatch).toBe('"7"');
  });

  it("says that the password does not go to another address, and takes it away when that is asked", async () => {
    const { asked } = await open({ [`PUT ${AT}`]: registry() });
    await screen.findByText("https://schemas.example.org");
    press("Change");
    fill("URL", "https://other.example.org");
    expect(screen.getByText(/it does not go to this one/)).toBeTruthy();
    fill("URL", "https://schemas.example.org");
    press("Take the password away");
    expect(screen.getByText("It is forgotten when you save.")).toBeTruthy();
    press("Save");
    await waitFor(() => expect(sent(asked, "PUT")).toMatchObject([{ password: "" }]));
  });

  it("is tried before it is saved, and a try is of what was typed then", async () => {
    const detail = "The schema registry answers 404.";
    const answers = [
      { answers: false, detail },
      { answers: true, detail: "" },
    ];
    const { asked } = await open({ [`GET ${AT}`]: NONE, [`POST ${AT}/check`]: () => answers.shift() });
    await screen.findByText("This cluster has no schema registry");
    press("Set a registry");
    fill("URL", "https://schemas.example.org/wrong");
    press("Test connection");
    expect(await screen.findByText(detail)).toBeTruthy();
    fill("URL", "https://schemas.example.org");
    expect(screen.queryByText(detail)).toBeNull();
    press("Test connection");
    expect(await screen.findByText("A schema registry answers there and lets this user in.")).toBeTruthy();
    expect(sent(asked, "POST")).toMatchObject([
      { url: "https://schemas.example.org/wrong" },
      { url: "https://schemas.example.org" },
    ]);
    expect(sent(asked, "PUT")).toEqual([]);
  });

  it("shows what is wrong at its field", async () => {
    const fault = "A password goes over https alone.";
    const refusal = new Refusal(422, "Invalid", "Invalid", {
      code: "invalid",
      errors: [{ pointer: "/url", detail: fault, code: "invalid" }],
    });
    await open({ [`GET ${AT}`]: NONE, [`POST ${AT}/check`]: refusal });
    await screen.findByText("This cluster has no schema registry");
    press("Set a registry");
    fill("URL", "http://schemas.example.org");
    press("Test connection");
    expect(await screen.findByText(fault)).toBeTruthy();
  });

  it("is removed once that is confirmed", async () => {
    const { asked } = await open({ [`DELETE ${AT}`]: {} });
    await screen.findByText("https://schemas.example.org");
    press("Remove");
    expect(await screen.findByText(/shown as bytes from then on/)).toBeTruthy();
    expect(sent(asked, "DELETE")).toHaveLength(0);
    const [, confirm] = screen.getAllByRole("button", { name: "Remove", hidden: true });
    confirm?.click();
    await waitFor(() => expect(sent(asked, "DELETE")).toHaveLength(1));
  });

  it.each(["operator", "viewer"])("offers a %s nothing that only owners may do", async (role) => {
    await open({}, role);
    expect(await screen.findByText("Owners of the tenant change it.")).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Change" })).toBeNull();
    expect(screen.queryByRole("button", { name: "Remove" })).toBeNull();
  });

  it("says who sets one where there is none", async () => {
    await open({ [`GET ${AT}`]: NONE }, "viewer");
    expect(await screen.findByText(/Owners of the tenant set one/)).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Set a registry" })).toBeNull();
  });

  it("shows neither a registry nor its absence before it was read", async () => {
    await open({ [`GET ${AT}`]: PENDING });
    expect(screen.queryByText("This cluster has no schema registry")).toBeNull();
    expect(screen.queryByRole("button", { name: "Change" })).toBeNull();
  });

  it("fails in words, and is read again when that is asked", async () => {
    const answers: unknown[] = [new Refusal(503, "Unavailable", "The database is away."), registry()];
    await open({ [`GET ${AT}`]: () => answers.shift() });
    expect(await screen.findByText(/The database is away/)).toBeTruthy();
    press(/again/i);
    expect(await screen.findByText("https://schemas.example.org")).toBeTruthy();
  });

  it("is not there for whoever does not see the cluster", async () => {
    await open({ [`GET ${AT}`]: new Refusal(404, "Not found", "The cluster was not found.") }, "limited");
    expect(await screen.findByText(/The cluster was not found/)).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Change" })).toBeNull();
  });
});
