import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fill, openPage, press } from "@/testing/app";
import { AT, plan, session } from "@/testing/samples";
import { type Answers, ok, Refusal } from "@/testing/server";
import { noDrift, quotasPage } from "@/testing/samples-access";

const MATRIX = "GET /api/v1/clusters/c1/access/matrix";
const DECISION = "GET /api/v1/clusters/c1/access/decision";
const read = { as_of: AT, stale_reason: null };
const parts = {
  users: ok([
    { username: "app", mechanisms: ["SCRAM-SHA-512"], managed: false, rules: { count: 0, denies: 0, first: [] } },
  ]),
  users_counts: ok({ page: 1, size: 50, matched: 1, total: 1, managed: [] }),
  acls_counts: ok({ page: 1, size: 50, matched: 0, total: 0 }),
  overlaps: ok([]),
  quotas: ok(quotasPage()),
  acls: ok([]),
  drift: ok(noDrift()),
};
const matrix = (more: object = {}) => ({
  data: [
    { principal: "User:*", cells: [] },
    {
      principal: "User:app",
      cells: [
        {
          resource: 0,
          allow: [{ operation: "DESCRIBE_CONFIGS", hosts: ["*"] }],
          deny: [{ operation: "WRITE", hosts: ["10.0.0.9"] }],
        },
      ],
    },
  ],
  resources: [
    { resource_type: "TOPIC", pattern_type: "PREFIXED", resource_name: "sales" },
    { resource_type: "CLUSTER", pattern_type: "LITERAL", resource_name: "kafka-cluster" },
  ],
  columns_left_out: 0,
  principals: 2,
  page: { next: null, has_more: false },
  observed: read,
  ...more,
});
const missing = {
  principal: "User:app",
  host: "*",
  operation: "WRITE",
  permission: "ALLOW",
  resource_type: "TOPIC",
  resource_name: "sales",
  pattern_type: "LITERAL",
};
const decision = (more: object = {}) => ({
  principal: "User:app",
  operation: "WRITE",
  resource_type: "TOPIC",
  resource_name: "sales",
  host: "",
  verdict: "denied",
  reason: "not-granted",
  text: "User:app may not write the topic sales: no ACL allows it.",
  deciding: [],
  missing: [missing],
  templates: ["producer", "streams"],
  unknown: [],
  unknown_reason: null,
  by_broker: [],
  other_hosts: [],
  acls: read,
  ...more,
});
const open = (search: string, answers: Answers = {}) =>
  openPage(`/clusters/c1/access${search}`, {
    "GET /console/api/pages/access/c1": { parts },
    "GET /api/v1/clusters/c1/users": { data: [], page: { next: null, has_more: false } },
    [MATRIX]: matrix(),
    [DECISION]: decision(),
    "POST /api/v1/plans": plan({ kind: "acl.create", diff: { before: [], after: [missing] } } as never),
    ...answers,
  });
const QUESTION = "?tab=check&who=User%3Aapp&op=WRITE&type=TOPIC&name=sales";
const viewer = { "GET /console/api/session": session({ can_write: false }) };

describe("the matrix", () => {
  const table = async () => within(await screen.findByRole("table", { name: "Access matrix" }));

  it("shows operations in short words, whole on hover and for screen readers, denials by word", async () => {
    await open("?tab=matrix");
    const found = await table();
    expect(found.getAllByRole("columnheader").map((head) => head.textContent)).toEqual([
      "Principal",
      "topic sales*",
      "cluster",
    ]);
    expect(found.getByText("desc cfg").parentElement?.title).toBe("may describe configs");
    expect(found.getByTitle("may not write from 10.0.0.9").textContent).toBe("no write @may not write from 10.0.0.9. ");
    expect(found.getByText("everybody")).toBeTruthy();
  });

  it("narrows by principal, name and type on the server", async () => {
    const { asked } = await open("?tab=matrix");
    await table();
    fill("Search principals", "app");
    fill("Resource's name", "sal");
    await waitFor(() => {
      const last = asked.filter((one) => one.url.includes("/access/matrix")).at(-1);
      expect(last?.url).toContain("principal=app");
      expect(last?.url).toContain("resource=sal");
    });
  });

  it("pages principals and goes back", async () => {
    const { asked } = await open("?tab=matrix", {
      [MATRIX]: ({ url }: { url: string }) =>
        url.includes("cursor=two")
          ? matrix({ data: [{ principal: "User:last", cells: [] }] })
          : matrix({ page: { next: "two", has_more: true } }),
    });
    await table();
    press("Next principals");
    expect(await screen.findByText("User:last")).toBeTruthy();
    expect((screen.getByRole("button", { name: "Next principals" }) as HTMLButtonElement).disabled).toBe(true);
    press("Previous principals");
    expect(await screen.findByText("everybody")).toBeTruthy();
    expect(asked.some((one) => one.url.includes("cursor=two"))).toBe(true);
  });

  it("says what is left out, how old it is, and that nothing fits", async () => {
    await open("?tab=matrix", {
      [MATRIX]: matrix({ columns_left_out: 3, observed: { as_of: AT, stale_reason: "broker 2 did not answer" } }),
    });
    expect(await screen.findByText(/^3 resources with fewer ACLs are not shown/)).toBeTruthy();
    expect(screen.getByText(/as last read: broker 2 did not answer/)).toBeTruthy();
  });

  it("is empty in other words when it was narrowed", async () => {
    await open("?tab=matrix&q=nobody", { [MATRIX]: matrix({ data: [], resources: [], principals: 0 }) });
    expect(await screen.findByText("No ACL fits")).toBeTruthy();
  });

  it("says why it cannot be read", async () => {
    await open("?tab=matrix", { [MATRIX]: new Refusal(503, "The cluster has not been observed yet") });
    expect(await screen.findByText("The cluster has not been observed yet")).toBeTruthy();
    expect(screen.queryByText(/No ACL/)).toBeNull();
  });

  it("leads to the check of a principal", async () => {
    const { router } = await open("?tab=matrix");
    fireEvent.click((await table()).getByRole("button", { name: "User:app" }));
    await waitFor(() => expect(router.state.location.search).toEqual({ tab: "check", who: "User:app" }));
  });
});

describe("the check", () => {
  it("asks what the form says, and the address keeps the question", async () => {
    const { asked, router } = await open("?tab=check");
    const form = within(await screen.findByRole("form", { name: "Check access" }));
    fireEvent.change(form.getByLabelText("Can", { selector: "input" }), { target: { value: "app" } });
    fireEvent.change(form.getByLabelText("Called"), { target: { value: "sales" } });
    expect(asked.some((one) => one.url.includes("/access/decision"))).toBe(false);
    fireEvent.click(form.getByRole("button", { name: "Check" }));
    await screen.findByText(/no ACL allows it/);
    expect(router.state.location.search).toEqual({
      tab: "check",
      who: "User:app",
      op: "READ",
      type: "TOPIC",
      name: "sales",
    });
    const url = asked.find((one) => one.url.includes("/access/decision"))?.url ?? "";
    expect(new URLSearchParams(url.split("?")[1]).get("principal")).toBe("User:app");
  });

  it("says no, what is missing, which templates have it, and plans exactly that", async () => {
    const { asked } = await open(QUESTION);
    expect(await screen.findByText("No")).toBeTruthy();
    expect(screen.getByText("Part of the templates: Producer, Streams application.")).toBeTruthy();
    press("Plan to allow it");
    await waitFor(() =>
      expect(asked.find((one) => one.method === "POST")?.body).toEqual({
        kind: "acl.create",
        cluster_id: "c1",
        inputs: { bindings: [missing] },
      }),
    );
  });

  it("names what denies it and plans its removal", async () => {
    const denial = { ...missing, permission: "DENY", principal: "User:*" };
    const { asked } = await open(QUESTION, {
      [DECISION]: decision({ reason: "deny-rule", deciding: [denial], missing: [], text: "1 ACL denies it." }),
    });
    expect((await screen.findByRole("list", { name: "Deciding ACLs" })).textContent).toBe(
      "User:* may not write topic “sales”",
    );
    press("Plan to remove what denies it");
    await waitFor(() =>
      expect(asked.find((one) => one.method === "POST")?.body).toEqual({
        kind: "acl.delete",
        cluster_id: "c1",
        inputs: { bindings: [denial] },
      }),
    );
  });

  it("says that it is unknown, and why", async () => {
    const unknown = { verdict: "unknown", reason: "settings-unknown", missing: [], text: "It hangs on super.users." };
    await open(QUESTION, { [DECISION]: decision({ ...unknown, unknown_reason: "Broker 1 did not answer." }) });
    expect(await screen.findByText("It hangs on super.users. Broker 1 did not answer.")).toBeTruthy();
    expect(screen.getByText("Unknown")).toBeTruthy();
  });

  it("says a refusal at the form, in the service's words", async () => {
    await open(QUESTION, { [DECISION]: new Refusal(422, "The request cannot be done as asked", "Say which one.") });
    expect(await screen.findByText("Say which one.")).toBeTruthy();
  });

  it("answers a viewer and offers no plan", async () => {
    await open(QUESTION, viewer);
    expect(await screen.findByText("No")).toBeTruthy();
    expect(screen.queryByRole("button", { name: /Plan to/ })).toBeNull();
  });

  it("shows hostile names as text", async () => {
    await open("?tab=matrix", {
      [MATRIX]: matrix({ data: [{ principal: "User:<img src=x onerror=alert(1)>", cells: [] }] }),
    });
    expect(await screen.findByText(/<img src=x onerror=alert\(1\)>/)).toBeTruthy();
    expect(document.querySelector("img[src=x]")).toBeNull();
  });
});
