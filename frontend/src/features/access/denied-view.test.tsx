import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, press, rowsOf } from "@/testing/app";
import { AT, plan, session } from "@/testing/samples";
import { type Answers, type Asked, ok, PENDING, Refusal } from "@/testing/server";
import { noDrift, quotasPage } from "@/testing/samples-access";
import { grantFor } from "./denied-grant";

const DENIALS = "GET /api/v1/clusters/c1/access/denials";
const read = { as_of: AT, stale_reason: null };
const parts = {
  users: ok([
    {
      username: "ann",
      mechanisms: ["SCRAM-SHA-512"],
      managed: false,
      rules: { count: 0, denies: 0, first: [] },
      ...read,
    },
    {
      username: "own",
      mechanisms: ["SCRAM-SHA-512"],
      managed: true,
      rules: { count: 0, denies: 0, first: [] },
      ...read,
    },
  ]),
  users_counts: ok({ page: 1, size: 50, matched: 1, total: 1, managed: ["own"] }),
  acls_counts: ok({ page: 1, size: 50, matched: 0, total: 0 }),
  overlaps: ok([]),
  acls: ok([]),
  quotas: ok(quotasPage()),
  drift: ok(noDrift()),
};
const attempt = {
  event: "denied" as const,
  principal: "User:ann",
  operation: "READ",
  resource_type: "TOPIC",
  resource_name: "orders",
  host: "10.0.0.1",
  api: "Fetch",
  count: 1200,
  first_ms: 1,
  last_ms: 20,
  brokers: [1],
};
const broker = { id: 1, since_ms: 1, is_whole: true, held_back: 0, left_out: 0, unknown_because: null };
const page = (data: object[], more: object = {}) => ({
  data,
  page: { next: null, has_more: false },
  brokers: [broker],
  ...more,
});
const open = (answer: unknown, answers: Answers = {}) =>
  openPage("/clusters/c1/access?tab=denied", {
    "GET /console/api/pages/access/c1": { parts },
    "GET /api/v1/clusters/c1/users": { data: [], page: { next: null, has_more: false } },
    [DENIALS]: answer,
    ...answers,
  });

describe("denied attempts", () => {
  it("says who was refused what, from where and how often, the newest first", async () => {
    const login = {
      ...attempt,
      event: "login-failed",
      operation: "LOGIN",
      resource_type: null,
      resource_name: "User:eve",
      last_ms: 30,
    };
    await open(page([attempt, login]));
    expect((await rowsOf("Denied attempts")).map((row) => row.slice(1, 5))).toEqual([
      ["User:ann", "login failed  User:eve", "10.0.0.1", "1,200"],
      ["User:ann", "read topic orders", "10.0.0.1", "1,200"],
    ]);
    expect(screen.getByText(/Broker 1: its log begins/)).toBeTruthy();
  });

  it("leads to the form of ACLs, filled with what would have allowed it", async () => {
    const { asked } = await open(page([attempt]), {
      "POST /api/v1/plans": plan({ kind: "acl.create", diff: { before: [], after: [] } } as never),
    });
    await rowsOf("Denied attempts");
    press(/^Grant this: User:ann/);
    const dialog = within(await screen.findByRole("dialog"));
    expect(await dialog.findByDisplayValue("ann")).toBeTruthy();
    expect(dialog.getByDisplayValue("orders")).toBeTruthy();
    fireEvent.click(dialog.getByRole("button", { name: "Review plan" }));
    await waitFor(() =>
      expect(asked.find((one) => one.method === "POST")?.body).toEqual({
        kind: "acl.create",
        cluster_id: "c1",
        inputs: {
          bindings: [
            {
              principal: "User:ann",
              host: "*",
              operation: "READ",
              permission: "ALLOW",
              resource_type: "TOPIC",
              resource_name: "orders",
              pattern_type: "LITERAL",
            },
          ],
        },
      }),
    );
  });

  it("shows names of strangers as text, with what would be invisible, and grants nothing by them", async () => {
    await open(page([{ ...attempt, resource_name: "<b>or\u202eders</b>" }]));
    const [row] = await rowsOf("Denied attempts");
    expect(row?.[2]).toContain("<b>or⟨U+202E⟩ders</b>");
    expect(screen.queryByRole("button", { name: /^Grant this/ })).toBeNull();
  });

  it("offers no grant to who may not write", async () => {
    await open(page([attempt]), { "GET /console/api/session": session({ role: "viewer", writes: [] } as never) });
    await rowsOf("Denied attempts");
    expect(screen.queryByRole("button", { name: /^Grant this/ })).toBeNull();
  });

  it("says of which brokers nothing is known, how far it looked, and what is not listed", async () => {
    const silent = {
      ...broker,
      id: 2,
      since_ms: null,
      unknown_because: "Unknown: the agent of host-2 does not answer.",
    };
    const busy = { ...broker, is_whole: false, held_back: 40, left_out: 1 };
    await open(page([attempt], { brokers: [busy, silent] }));
    expect(await screen.findByText("Of 1 broker nothing is known")).toBeTruthy();
    expect(screen.getByText(/Broker 2: Unknown: the agent of host-2 does not answer\./)).toBeTruthy();
    expect(screen.getByText(/Broker 1: looked at since/)).toBeTruthy();
    expect(screen.getByText("1 further attempt not listed.")).toBeTruthy();
    expect(screen.getByText("40 lines were not written, as too many came at once.")).toBeTruthy();
  });

  it("says that nothing was denied, and looks again on request", async () => {
    let turn = 0;
    await open(() => page((turn += 1) === 1 ? [] : [attempt]));
    expect(await screen.findByText("Nothing was denied")).toBeTruthy();
    press("Look again");
    expect(await rowsOf("Denied attempts")).toHaveLength(1);
  });

  it("brings further pages on request", async () => {
    await open((one: Asked) =>
      one.url.includes("cursor=more")
        ? page([{ ...attempt, principal: "User:bob", last_ms: 1 }])
        : page([attempt], { page: { next: "more", has_more: true } }),
    );
    await rowsOf("Denied attempts");
    press("Show more");
    await waitFor(async () => expect(await rowsOf("Denied attempts")).toHaveLength(2));
  });

  it("never shows silence as nothing denied", async () => {
    await open(new Refusal(503, "Temporarily unavailable", "Unknown: the agent of host-1 does not answer."));
    expect(await screen.findByText("Unknown: the agent of host-1 does not answer.")).toBeTruthy();
    expect(screen.queryByText("Nothing was denied")).toBeNull();
  });

  it("says that it is not available where brokers are run by others", async () => {
    await open(new Refusal(503, "Temporarily unavailable", "run by others", { code: "brokers-of-others" }));
    expect(await screen.findByText("Not available: its brokers are run by others")).toBeTruthy();
  });

  it("says that it is looking", async () => {
    await open(PENDING);
    expect(await screen.findByLabelText("Loading")).toBeTruthy();
  });
});

describe("the grant of a denied attempt", () => {
  const managed = ["own"];
  it.each([
    ["a failed login", { event: "login-failed" as const }],
    ["somebody unknown", { principal: "User:ANONYMOUS" }],
    ["another kind of principal", { principal: "Group:ann" }],
    ["a user of the service itself", { principal: "User:own" }],
    ["what is no resource of an ACL", { resource_type: "USER" }],
    ["an operation that the resource has not", { operation: "CLUSTER_ACTION" }],
    ["every name", { resource_name: "*" }],
    ["a name that ends with a blank", { resource_name: "orders " }],
    ["a principal with a mark that is not seen", { principal: "User:an\u200bn" }],
  ])("is none of %s", (_, more) => {
    expect(grantFor({ ...attempt, ...more }, managed)).toBeNull();
  });

  it("is none while it is not known whose users are the service's", () => {
    expect(grantFor(attempt, null)).toBeNull();
  });

  it("is the one operation on the one name", () => {
    expect(grantFor(attempt, managed)?.custom).toEqual({
      permission: "ALLOW",
      type: "TOPIC",
      name: "orders",
      prefixed: false,
      operations: ["READ"],
      host: "*",
    });
  });
});
