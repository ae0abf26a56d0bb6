/** Who may not change something is offered nothing that could only end in a refusal: every page with a write. */
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { mayWrite, needOf } from "@/lib/permissions";
import type { Session } from "@/lib/types";
import { openPage } from "@/testing/app";
import {
  AT,
  broker,
  cluster,
  collector,
  operation,
  plan,
  session,
  topic,
  topicCounts,
  topicRow,
  versions,
} from "@/testing/samples";
import { group, groupCounts, groupRow, lagPoint } from "@/testing/samples-groups";
import { type Answers, ok } from "@/testing/server";
import { noDrift, quotasPage } from "@/testing/samples-access";

const ANY = { match: "any", name: "" } as const;
const SESSION = "GET /console/api/session";
const READ_ONLY = "You may look at this, not change it";
const viewer = session({ can_write: false, can_write_tenant: false, writes: [] });
/** Changes topics that begin with "team-a-", and nothing else. */
const narrow = session({
  can_write_tenant: false,
  writes: [{ clusters: ANY, over: "topic", names: { match: "prefix", name: "team-a-" } }],
});
/** Changes everything on another cluster. */
const elsewhere = session({
  can_write_tenant: false,
  writes: [{ clusters: { match: "literal", name: "another" }, over: "cluster", names: ANY }],
});
const operator = session();
const gold = { as_of: null, run_id: null, data: [] };
const moves = ok({ total: 0, rows: [], unknown: [] });
const user = { username: "app", mechanisms: ["SCRAM-SHA-512"], managed: false };
const quota = {
  entity: [{ type: "user", name: "app" }],
  words: "user app",
  quotas: {
    producer_byte_rate: 1024,
    consumer_byte_rate: null,
    request_percentage: null,
    controller_mutation_rate: null,
  },
  managed: false,
};
const loads = ok([{ id: 1, leaders: 1, replicas: 1, size_bytes: 1 }]);
const groupParts = {
  group: ok(group()),
  lag: ok({ ...gold, data: [lagPoint()] }),
  retention: ok(gold),
  collector: ok(collector()),
};
const PAGES: Answers = {
  "GET /api/v1/clusters/c1/analytics/lag": { as_of: AT, run_id: "run_1", data: [lagPoint()] },
  "GET /console/api/pages/topics/c1": { parts: { topics: ok([topicRow()]), counts: ok(topicCounts()) } },
  "GET /console/api/pages/topic/c1/sales": { parts: { topic: ok(topic()), retention: ok(gold) } },
  "GET /console/api/pages/topic/c1/team-a-1": {
    parts: { topic: ok(topic({ name: "team-a-1" })), retention: ok(gold) },
  },
  "GET /console/api/pages/groups/c1": { parts: { groups: ok([groupRow()]), counts: ok(groupCounts()), lag: ok(gold) } },
  "GET /console/api/pages/group/c1/readers": { parts: groupParts },
  "GET /console/api/pages/cluster/c1": {
    parts: {
      cluster: ok(cluster({ brokers: [broker()] })),
      summary: ok({ topics: 1, partitions: 1, under_replicated: 0, offline: 0, size_bytes: 1 }),
      versions: ok(versions({ may_change: false })),
      loads,
      reassignments: moves,
      attention: ok([]),
      events: ok([]),
      operations: ok([]),
      client_config: ok({
        values: {},
        mechanisms: ["SCRAM-SHA-512"],
        properties: "bootstrap.servers=x",
        java: "",
        python: "",
        snippets: [],
      }),
    },
  },
  "GET /api/v1/clusters/c1/users": { data: [], page: { next: null, has_more: false } },
  "GET /console/api/pages/access/c1": {
    parts: {
      users: ok([{ ...user, rules: { count: 0, denies: 0, first: [] } }]),
      users_counts: ok({ page: 1, size: 50, matched: 1, total: 1, managed: [] }),
      acls_counts: ok({ page: 1, size: 50, matched: 0, total: 0 }),
      overlaps: ok([]),
      acls: ok([]),
      quotas: ok(quotasPage(quota)),
      drift: ok(noDrift()),
    },
  },
  "GET /console/api/pages/reassign/c1": {
    parts: { cluster: ok(cluster()), counts: ok(topicCounts()), loads, reassignments: moves },
  },
};
const at = (path: string, who: Session, more: Answers = {}) => openPage(path, { ...PAGES, ...more, [SESSION]: who });

/** What can be pressed or followed in the page itself, by its name. */
const offered = () =>
  within(screen.getByRole("main"))
    .queryAllByRole("button")
    .concat(within(screen.getByRole("main")).queryAllByRole("link"))
    .map((element) => element.getAttribute("aria-label") ?? element.textContent)
    .filter((name) => WRITES.test(name));
const WRITES =
  /^(New|Add|Create|Register|Delete|Reset|Restart|More|Actions|Set|Change|Plan|Review|Undo|Run)\b|^Move$|^(Cancel operation|Show password)/;

/** Each page that has something to change, with a text that is there once its data is, and what an operator gets. */
const LISTS: [path: string, shows: RegExp, offers: RegExp][] = [
  ["/", /Everything Acme runs/, /New cluster/],
  ["/clusters/c1/topics", /sales/, /New topic/],
  ["/clusters/c1/topics/sales", /Leader/, /Move/],
  ["/clusters/c1/groups/readers", /^Partition/, /Reset offsets/],
  ["/clusters/c1", /Brokers/, /More|Delete|Restart/],
  ["/clusters/c1/access", /Signs in with/, /New user/],
  ["/clusters/c1/access?tab=quotas", /user app/, /Set quotas/],
];
const FORMS: [path: string, over: string][] = [
  ["/clusters/c1/new-topic", "Creating topics"],
  ["/clusters/c1/groups/readers/reset", "Resetting offsets"],
  ["/clusters/c1/reassign", "Moving partitions"],
  ["/clusters/new", "Creating clusters"],
  ["/clusters/register", "Registering clusters"],
];

describe.each([
  ["a viewer", viewer],
  ["who changes another cluster alone", elsewhere],
])("%s", (who, session) => {
  it.each(LISTS.filter(([path]) => who === "a viewer" || path !== "/"))(
    "is offered no change at %s",
    async (path, shows) => {
      await at(path, session);
      expect((await screen.findAllByText(shows)).length).toBeGreaterThan(0);
      expect(offered()).toEqual([]);
    },
  );

  it.each(FORMS.filter(([path]) => who === "a viewer" || path.includes("/c1/")))(
    "is told at %s what it needs, and gets no form",
    async (path, what) => {
      await at(path, session);
      expect(await screen.findByText(READ_ONLY)).toBeTruthy();
      expect(screen.getByText(new RegExp(`^${what} needs the role operator on `))).toBeTruthy();
      expect(offered()).toEqual([]);
    },
  );

  it("may not cancel, undo, or take the password of an operation", async () => {
    for (const state of ["running", "succeeded"] as const) {
      const found = operation({
        kind: "user.create",
        resource: "user/app",
        state,
        cancellable: true,
        revertible: true,
        has_secret: true,
      });
      const page = { parts: { operation: ok(found), plan: ok(plan()) } };
      await at("/operations/op_1", session, { "GET /console/api/pages/operation/op_1": page });
      await screen.findAllByTestId("operation-live");
      expect(offered()).toEqual([]);
      document.body.replaceChildren();
    }
  });
});

describe("an operator", () => {
  it.each(LISTS)("is offered changes at %s", async (path, shows, offers) => {
    await at(path, operator);
    expect((await screen.findAllByText(shows)).length).toBeGreaterThan(0);
    await waitFor(() => expect(offered().join()).toMatch(offers));
  });

  it.each(FORMS)("gets the form at %s", async (path) => {
    await at(path, operator);
    await waitFor(() => expect(screen.queryByText(READ_ONLY)).toBeNull());
    expect(await screen.findByRole("button", { name: /Review plan|Try/ })).toBeTruthy();
  });
});

describe("who changes some topics alone", () => {
  it("may create topics and change its own, and move none", async () => {
    await at("/clusters/c1/topics/team-a-1", narrow);
    await screen.findAllByText("Leader");
    fireEvent.click(await screen.findByRole("button", { name: /More/ }));
    expect(await screen.findByRole("menuitem", { name: "Delete topic" })).toBeTruthy();
    expect(screen.queryByRole("link", { name: "Move" })).toBeNull();
  });

  it("may not change those of others, nor groups, users, or the cluster", async () => {
    await at("/clusters/c1/topics/sales", narrow);
    await screen.findAllByText("Leader");
    expect(offered()).toEqual([]);
  });

  it("is offered a new topic, but no cluster", async () => {
    await at("/clusters/c1/topics", narrow);
    expect(await screen.findByRole("link", { name: "New topic" })).toBeTruthy();
  });

  it("undoes what it may do, and nothing else", () => {
    const need = (kind: string, resource: string) => needOf({ kind, resource } as never);
    const may = (kind: string, resource: string) => mayWrite(narrow, { ...need(kind, resource), cluster: "orders" });
    expect(may("topic.update", "topic/team-a-1")).toBe(true);
    expect(may("topic.update", "topic/team-b-1")).toBe(false);
    expect(may("offset.reset", "group/team-a-readers")).toBe(false);
    expect(may("acl.create", "acl/User:team-a-app")).toBe(false);
    expect(may("reassignment", "reassignment/team-a-1")).toBe(false);
    expect(may("quota.set", "quota/user team-a-1")).toBe(false);
  });
});

describe("the rule", () => {
  it("takes patterns as the service does: letter by letter, prefixes by their separator, unknown names by none", () => {
    const may = (over: "cluster" | "topic" | "group", cluster?: string, name?: string) =>
      mayWrite(
        session({
          writes: [
            { clusters: { match: "literal", name: "prod" }, over: "topic", names: { match: "prefix", name: "a-" } },
            { clusters: { match: "prefix", name: "dev-" }, over: "cluster", names: ANY },
          ],
        }),
        { over, cluster, name },
      );
    expect(may("topic", "prod", "a-1")).toBe(true);
    expect(may("topic", "prod", "A-1")).toBe(false);
    expect(may("topic", "", "a-1")).toBe(false);
    expect(may("group", "prod", "a-1")).toBe(false);
    expect(may("cluster", "prod")).toBe(false);
    expect(may("group", "dev-1", "anything")).toBe(true);
    expect(may("cluster")).toBe(true);
    expect(mayWrite(undefined, { over: "topic" })).toBe(false);
  });
});
