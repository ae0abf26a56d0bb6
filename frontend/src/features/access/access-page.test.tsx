import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fill, openPage, press, rowsOf } from "@/testing/app";
import { describePageStates } from "@/testing/page-states";
import { AT, plan, session } from "@/testing/samples";
import { type Answers, ok, unavailable } from "@/testing/server";
import { quotasPage } from "@/testing/samples-access";
import { author } from "@/testing/samples-drift";

const PATH = "/clusters/c1/access";
const user = (username: string, managed = false, first: object[] = [], more: object = {}) => ({
  username,
  mechanisms: ["SCRAM-SHA-512"],
  managed,
  rules: { count: first.length, denies: 0, first, ...more },
});
const counts = (total: number, more: object = {}) => ok({ page: 1, size: 50, matched: total, total, ...more });
const rule = {
  principal: "User:app",
  host: "*",
  operation: "READ",
  permission: "ALLOW",
  resource_type: "TOPIC",
  resource_name: "sales",
  pattern_type: "PREFIXED",
};
const denial = {
  ...rule,
  operation: "WRITE",
  permission: "DENY",
  resource_type: "GROUP",
  pattern_type: "LITERAL",
  host: "10.0.0.9",
};
const overlap = {
  username: "app",
  old_mechanism: "SCRAM-SHA-512",
  new_mechanism: "SCRAM-SHA-256",
  state: "standing",
  rotation: "op_1",
  created_at: "2026-03-04T05:06:07Z",
  ends_at: "2999-03-04T05:06:07Z",
  problem: "",
};
const read = { as_of: AT, stale_reason: null };
const drift = (
  data: { area?: string; name?: string; text?: string; text_code?: string; params?: object }[],
  more: object = {},
) =>
  ok({
    ...{ data, users: read, acls: read, under_way: [], page: 1, size: 50, matched: data.length, total: data.length },
    changed_users: data
      .filter((row) => row.area === "user")
      .map(({ name, text, text_code, params }) => ({ username: name, text, text_code, params })),
    ...more,
  });
const changed = {
  area: "user",
  name: "app",
  desired: "a login by SCRAM-SHA-256",
  observed: "a login by SCRAM-SHA-512",
  operation_id: "op_7",
  text: "The user app has a login by SCRAM-SHA-512; the last verified operation left a login by SCRAM-SHA-256.",
  text_code: "user",
  params: { name: "app", observed: "SCRAM-SHA-512", desired: "SCRAM-SHA-256" },
  back: null,
  ...{ back_problem: "Passwords are not kept.", back_problem_code: null, back_problem_params: {} },
  adopt: null,
  ...{ adopt_problem: "", adopt_problem_code: null, adopt_problem_params: {} },
  ...{ equal_at: AT, seen_at: AT, changed_at: AT, who: author() },
};
const removed = {
  ...changed,
  area: "acl",
  name: "User:app may read topic sales",
  text_code: "acl/added",
  params: { rule: "User:app may read topic sales" },
  desired: "there",
  observed: "not there",
  back: { kind: "acl.create", inputs: { bindings: [rule] } },
  back_problem: "",
  adopt: { kind: "acl.delete", inputs: { bindings: [rule], adopt: true } },
};
const parts = {
  drift: drift([]),
  overlaps: ok([]),
  quotas: ok(quotasPage()),
  users: ok([user("app", false, [rule, denial], { denies: 1 }), user("idle"), user("penstock", true)]),
  users_counts: counts(3, { managed: ["penstock"] }),
  acls_counts: counts(2),
  acls: ok([rule, denial].map((row) => ({ ...row, as_of: AT, stale_reason: null }))),
};
const open = (search = "", answer: object = parts, more: Answers = {}) =>
  openPage(PATH + search, {
    "GET /console/api/pages/access/c1": { parts: answer },
    "GET /api/v1/clusters/c1/users": { data: [user("app"), user("idle")], page: { next: null, has_more: false } },
    "POST /api/v1/plans": plan({
      kind: "acl.create",
      confirm_phrase: null,
      diff: { before: [], after: [rule] },
    } as never),
    ...more,
  });
const pageAsked = (asked: { url: string }[]) => {
  const last = asked.filter((one) => one.url.includes("pages/access")).at(-1)?.url ?? "";
  return Object.fromEntries(new URLSearchParams(last.split("?")[1]));
};
const posted = (asked: { method: string; body: unknown }[]) => asked.find((one) => one.method === "POST")?.body;

describePageStates({ path: PATH, page: "access/c1", title: "Access", parts, part: "users", shows: "idle" });

describe("access", () => {
  it("says in words what each user may do", async () => {
    await open();
    expect((await rowsOf("Users")).map((row) => row.slice(0, 3))).toEqual([
      ["app", "SCRAM-SHA-512", "read sales*; not write group salesDENY"],
      ["idle", "SCRAM-SHA-512", "nothing yet"],
      ["penstockservice", "SCRAM-SHA-512", "everything: super user of the service"],
    ]);
    expect(screen.queryByRole("button", { name: "Actions for penstock" })).toBeNull();
  });

  const choose = async (user: string, item: string) => {
    await rowsOf("Users");
    press(`Actions for ${user}`);
    fireEvent.click(await screen.findByRole("menuitem", { name: item }));
  };

  it("plans that a user is deleted", async () => {
    const { asked } = await open();
    await choose("idle", "Delete user");
    await waitFor(() =>
      expect(posted(asked)).toEqual({ kind: "user.delete", cluster_id: "c1", inputs: { username: "idle" } }),
    );
  });

  it("plans a new password, beside which the old one works for a day unless another time is chosen", async () => {
    const { asked } = await open();
    await choose("idle", "New password");
    const dialog = within(await screen.findByRole("dialog"));
    expect(dialog.getByText(/Both passwords work until about/)).toBeTruthy();
    fireEvent.click(dialog.getByLabelText("The old password ends", { selector: "input" }));
    fireEvent.click(await screen.findByRole("option", { name: "After 1 hour" }));
    fireEvent.click(dialog.getByRole("button", { name: "Review plan" }));
    const inputs = { username: "idle", overlap_s: 3600 };
    await waitFor(() => expect(posted(asked)).toEqual({ kind: "user.rotate", cluster_id: "c1", inputs }));
  });

  it("shows that two passwords stand, until when, and ends the old one", async () => {
    const { asked } = await open("", { ...parts, overlaps: ok([overlap]) });
    expect((await rowsOf("Users"))[0]?.[0]).toMatch(
      /^appTwo passwords: old by SCRAM-SHA-512, new by SCRAM-SHA-256\. The old one ends in /,
    );
    await choose("app", "End the old password now");
    const inputs = { username: "app", mechanism: "SCRAM-SHA-512", rotation: "op_1" };
    await waitFor(() => expect(posted(asked)).toEqual({ kind: "user.retire", cluster_id: "c1", inputs }));
  });

  it("says why the old one is not removed by itself, and that a third password replaces both", async () => {
    const held = { ...overlap, state: "held", problem: "restored from a backup" };
    const { asked } = await open("", { ...parts, overlaps: ok([held]) });
    expect((await rowsOf("Users"))[0]?.[0]).toContain("not removed by itself: restored from a backup");
    await choose("app", "New password");
    const dialog = within(await screen.findByRole("dialog"));
    expect(dialog.getByText(/Two passwords stand already/)).toBeTruthy();
    fireEvent.click(dialog.getByRole("button", { name: "Review plan" }));
    const inputs = { username: "app", overlap_s: 0 };
    await waitFor(() => expect(posted(asked)).toEqual({ kind: "user.rotate", cluster_id: "c1", inputs }));
  });

  it("adds ACLs for a user who is chosen by name", async () => {
    const { asked } = await open();
    await rowsOf("Users");
    press("Actions for idle");
    fireEvent.click(await screen.findByRole("menuitem", { name: "Add ACLs" }));
    const dialog = within(await screen.findByRole("dialog"));
    const review = dialog.getByRole("button", { name: "Review plan" });
    expect((dialog.getByLabelText("User", { selector: "input" }) as HTMLInputElement).value).toBe("idle");
    expect((review as HTMLButtonElement).disabled).toBe(true);
    fireEvent.click(dialog.getByLabelText("What it does", { selector: "input" }));
    fireEvent.click(await screen.findByRole("option", { name: "Producer" }));
    fireEvent.change(dialog.getByLabelText("Topic"), { target: { value: "sales" } });
    fireEvent.click(dialog.getByLabelText("And every topic whose name starts like this"));
    fireEvent.click(review);
    const made = { ...rule, principal: "User:idle" };
    await waitFor(() =>
      expect(posted(asked)).toEqual({
        kind: "acl.create",
        cluster_id: "c1",
        inputs: {
          bindings: [
            { ...made, operation: "WRITE" },
            { ...made, operation: "DESCRIBE" },
          ],
        },
      }),
    );
    expect((await screen.findByRole("list", { name: "ACLs" })).textContent).toBe(
      "+User:app may read topic starting with “sales”",
    );
  });

  it("lists the rules, finds them, and removes those that are chosen", async () => {
    const { asked } = await open("?tab=acls");
    expect((await rowsOf("ACLs")).map((row) => row.slice(1))).toEqual([
      ["User:app", "may", "read", "topic sales*", "anywhere"],
      ["User:app", "may not", "write", "group sales", "10.0.0.9"],
    ]);
    fireEvent.click(screen.getByLabelText("Choose User:app write sales"));
    press("Remove 1 ACL");
    await waitFor(() =>
      expect(posted(asked)).toEqual({ kind: "acl.delete", cluster_id: "c1", inputs: { bindings: [denial] } }),
    );
  });

  it("finds and orders rules on the server, and keeps what was chosen", async () => {
    const { asked } = await open("?tab=acls");
    await rowsOf("ACLs");
    fireEvent.click(screen.getByLabelText("Choose User:app write sales"));
    fill("Search ACLs", "deny");
    await waitFor(() => expect(pageAsked(asked)).toEqual({ q: "deny" }));
    expect(await screen.findByRole("button", { name: "Remove 1 ACL" })).toBeTruthy();
    press("Operation");
    await waitFor(() => expect(pageAsked(asked)).toEqual({ q: "deny", sort: "operation" }));
  });

  it("finds and pages users on the server, and says of many ACLs the first", async () => {
    const busy = user("busy", false, [rule], { count: 41 });
    const { asked, router } = await open("", {
      ...parts,
      users: ok([busy, { ...user("new"), rules: null }]),
      users_counts: counts(1200, { managed: [] }),
    });
    expect((await rowsOf("Users")).map((row) => row[2])).toEqual([
      "read sales*; 40 more",
      "not known: the ACLs were never read",
    ]);
    expect(screen.getByRole("tab", { name: "Users (1,200)" })).toBeTruthy();
    fireEvent.click(await screen.findByRole("button", { name: "2" }));
    await waitFor(() => expect(pageAsked(asked)).toEqual({ users_page: "2" }));
    fill("Search users", "bus");
    await waitFor(() => expect(pageAsked(asked)).toEqual({ users_q: "bus" }));
    expect(router.state.location.search).toEqual({ q: "bus" });
  });

  it("says when nothing matches, instead of what to do while there is nothing", async () => {
    await open("?tab=acls&q=zzz", { ...parts, acls: ok([]), acls_counts: counts(2, { matched: 0 }) });
    expect(await screen.findByText("No ACL matches")).toBeTruthy();
  });

  it("has empty lists that say what to do", async () => {
    const none = { users_counts: counts(0, { managed: [] }), acls_counts: counts(0) };
    await open("", { ...parts, ...none, users: ok([]), acls: ok([]) });
    expect(await screen.findByText("No users yet")).toBeTruthy();
    fireEvent.click(screen.getByRole("tab", { name: "ACLs" }));
    expect(await screen.findByText("No ACLs yet")).toBeTruthy();
  });

  it("marks what was changed outside, and says what it is now, how an operation left it, and when it was seen", async () => {
    const { router } = await open("", { ...parts, drift: drift([removed, changed]) });
    expect((await rowsOf("Users"))[0]?.[0]).toBe("appChanged outside");
    expect(screen.getByText("2 changes from outside")).toBeTruthy();
    fireEvent.click(screen.getByRole("tab", { name: "Changed outside (2)" }));
    const rows = await rowsOf("Changed outside");
    expect(rows.map((row) => row.slice(0, 3))).toEqual([
      ["ACL User:app may read topic sales", "not there", "there by this operation"],
      ["user app", "a login by SCRAM-SHA-512", "a login by SCRAM-SHA-256 by this operation"],
    ]);
    expect(rows.every((row) => /^between .+ and /.test(row[3] ?? ""))).toBe(true);
    expect(router.state.location.search).toEqual({ tab: "drift" });
    const link = screen.getByRole("link", { name: "Operation that left app" });
    expect([link.getAttribute("href"), link.getAttribute("title")]).toEqual(["/operations/op_7", changed.text]);
  });

  it("says who changed it, as far as that is known, and of what nothing is said yet", async () => {
    const who = author({ by: "principal", actor: "User:eve", host: "10.1.2.3", text: "User:eve from 10.1.2.3" });
    const unseen = author({ unread: "Nobody has looked into it yet." });
    const rows = [
      { ...removed, who, equal_at: null },
      { ...changed, who: unseen },
    ];
    await open("?tab=drift", { ...parts, drift: drift(rows, { under_way: ["op_8"] }) });
    const said = await rowsOf("Changed outside");
    expect(said.map((row) => row[4]?.trim())).toEqual([
      "User:eve from 10.1.2.3",
      "unknown, outside of this service. Nobody has looked into it yet.",
    ]);
    expect(said[0]?.[3]).toMatch(/^before /);
    expect(screen.getByText(/^1 operation is under way/)).toBeTruthy();
  });

  it("offers both ways to mend a difference, and says why there is none", async () => {
    await open("?tab=drift", { ...parts, drift: drift([removed, changed]) });
    const rows = await rowsOf("Changed outside");
    expect(rows.map((row) => row[5])).toEqual(["Put back…Take over…", "Passwords are not kept."]);
    expect(screen.getByRole("button", { name: `Put back ${removed.name} as it was left` })).toBeTruthy();
    expect(screen.getByRole("button", { name: `Take over ${removed.name} as the brokers have it` })).toBeTruthy();
  });

  it("has what was changed outside searched, ordered and paged by the server", async () => {
    const last = drift([{ ...changed, name: "user-50" }], { page: 2, matched: 51, total: 60 });
    const { asked } = await open("?tab=drift&page=2&q=user", { ...parts, drift: last });
    expect((await rowsOf("Changed outside")).map((row) => row[0])).toEqual(["user user-50"]);
    expect(screen.getByText("60 changes from outside")).toBeTruthy();
    const page = asked.findLast(({ url }) => url.startsWith("/console/api/pages/access/c1"))?.url;
    expect(page).toContain("drift_q=user");
    expect(page).toContain("drift_page=2");
    fireEvent.click(screen.getByRole("button", { name: "Is now" }));
    await waitFor(() => expect(asked.some(({ url }) => /drift_sort=-?observed/.test(url))).toBe(true));
  });

  it("says that no change matches, and not that nothing was changed", async () => {
    await open("?tab=drift&q=nobody", { ...parts, drift: drift([], { total: 60 }) });
    expect(await screen.findByText("No change matches")).toBeTruthy();
    expect(screen.queryByText("Nothing was changed outside")).toBeNull();
  });

  it("says that nothing was changed outside only of what was read", async () => {
    await open("?tab=drift");
    expect(await screen.findByText("Nothing was changed outside")).toBeTruthy();
    expect(screen.queryByText(/unknown/)).toBeNull();
  });

  it("says that it is unknown what was never read, and why", async () => {
    const never = { as_of: null, stale_reason: "the brokers have no authorizer" };
    await open("?tab=drift", { ...parts, drift: drift([], { acls: never }) });
    expect(await screen.findByText("Whether ACLs were changed outside is unknown")).toBeTruthy();
    expect(screen.getByText("They have never been read: the brokers have no authorizer")).toBeTruthy();
    expect(screen.getByText(/^Users are as the last verified operation on each left them/)).toBeTruthy();
    expect(screen.queryByText("Nothing was changed outside")).toBeNull();
  });

  it("claims nothing while neither was read", async () => {
    const never = { as_of: null, stale_reason: null };
    await open("?tab=drift", { ...parts, drift: drift([], { users: never, acls: never }) });
    expect(await screen.findAllByText(/^Whether (Users|ACLs) were changed outside is unknown$/)).toHaveLength(2);
    expect(screen.queryByText(/^Nothing/)).toBeNull();
  });

  it("shows with its age and reason what could not be read again", async () => {
    const old = { as_of: AT, stale_reason: "broker 2 did not answer" };
    await open("?tab=drift", { ...parts, drift: drift([changed], { users: old }) });
    expect(await screen.findByText(/^Users are compared as they were .*: broker 2 did not answer$/)).toBeTruthy();
    expect(await rowsOf("Changed outside")).toHaveLength(1);
  });

  it("says why it is not there when it could not be compared", async () => {
    await open("?tab=drift", { ...parts, drift: unavailable("The database is away.") });
    expect(await screen.findByText(/The database is away\. The rest of the page is not affected/)).toBeTruthy();
  });

  it("offers a viewer no change", async () => {
    await open("?tab=acls", parts, { "GET /console/api/session": session({ can_write: false }) });
    await rowsOf("ACLs");
    expect(screen.queryByRole("button", { name: /New user|Add ACLs/ })).toBeNull();
    expect(screen.queryByRole("checkbox")).toBeNull();
  });
});
