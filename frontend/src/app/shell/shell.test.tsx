import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { heading, openPage, press } from "@/testing/app";
import { fakeEvents } from "@/testing/events";
import { cluster, operation, SIGNED_OUT, session, topicCounts, topicRow } from "@/testing/samples";
import { type Answers, ok, Refusal } from "@/testing/server";

const overview = (parts: object = {}) => ({
  parts: {
    clusters: ok([cluster(), cluster({ id: "c2", name: "billing" })]),
    attention: ok([]),
    operations: ok([]),
    hosts: ok([]),
    ...parts,
  },
});
const open = (path: string, more: Answers = {}) =>
  openPage(path, {
    "GET /console/api/pages/overview": overview(),
    "GET /console/api/pages/topics/c2": { parts: { topics: ok([topicRow()]), counts: ok(topicCounts()) } },
    ...more,
  });
const trail = () => screen.getByRole("navigation", { name: "Breadcrumb" });

describe("the frame of every page", () => {
  it.each([
    ["/", "Overview"],
    ["/clusters/new", "New cluster"],
    ["/clusters/c2/topics", "billingTopics"],
    ["/clusters/c2/topics/sales", "billingTopicssales"],
    ["/clusters/c2/groups/readers/reset", "billingConsumer groupsreadersReset offsets"],
    ["/operations/op_1", "Operationsop_1"],
    ["/audit", "Audit"],
    ["/settings", "Settings"],
    ["/profile", "Profile"],
  ])("says where %s is", async (path, text) => {
    await open(path, { "GET /console/api/pages/operation/op_1": new Refusal(503, "later") });
    await waitFor(() => expect(trail().textContent).toBe(text));
    const current = [...trail().querySelectorAll("[aria-current=page]")].map((found) => found.textContent);
    expect(current).toHaveLength(1);
    expect(text.endsWith(current[0] ?? "nothing")).toBe(true);
  });

  it("says that an address is none", async () => {
    await open("/nothing/of/the/kind");
    expect(heading()).toBe("Page not found");
    expect(screen.getByRole("navigation", { name: "Main" })).toBeTruthy();
    expect(screen.getByRole("link", { name: "Go to the overview" })).toBeTruthy();
  });

  it("counts what runs, and else says whether changes arrive live", async () => {
    const stream = fakeEvents();
    let parts: object = {};
    const { asked } = await open("/", { "GET /console/api/pages/overview": () => overview(parts) });
    expect(await screen.findByText("Polling")).toBeTruthy();
    const url = "/console/events?topics=operations,clusters";
    act(() => stream(url).connect());
    expect(await screen.findByText("Live")).toBeTruthy();
    parts = { operations: ok([operation({ state: "running" })]) };
    const before = asked.length;
    act(() => stream(url).send("operations", { topic: "operations" }));
    expect(await screen.findByText("1 running")).toBeTruthy();
    expect(asked.length).toBeGreaterThan(before);
  });

  it("says since when it is stale, and that no more when the server answers again", async () => {
    const stream = fakeEvents();
    let answer: unknown = overview();
    const { client, asked } = await open("/", { "GET /console/api/pages/overview": () => answer });
    act(() => stream("/console/events?topics=operations,clusters").connect());
    expect(await screen.findByText("Live")).toBeTruthy();
    answer = new Refusal(503, "later");
    await act(() => client.refetchQueries({ queryKey: ["page"] }));
    const said = await screen.findByText(/^Stale since \d\d:\d\d:\d\d$/, {}, { timeout: 5_000 });
    expect(screen.queryByText("Live")).toBeNull();
    expect(document.getElementById("main")?.className).toContain("ps-stale");
    expect(screen.getByRole("link", { name: "billing" })).toBeTruthy();
    answer = overview();
    const before = asked.length;
    fireEvent.click(said);
    expect(await screen.findByText("Live", {}, { timeout: 5_000 })).toBeTruthy();
    expect(asked.length).toBeGreaterThan(before);
    expect(document.getElementById("main")?.className).not.toContain("ps-stale");
  });

  it("lets people with more than one tenant choose", async () => {
    const tenants = [
      ...session().tenants,
      { id: "tn_2", slug: "rival", name: "Rival", role: "viewer" as const, state: "active" as const },
    ];
    let found = session({ tenants });
    const { asked } = await open("/", {
      "GET /console/api/session": () => found,
      "POST /console/api/tenant": () => (found = session({ tenants, tenant: tenants[1] })),
      "GET /console/api/pages/overview": () =>
        overview({ clusters: ok([cluster({ name: `of ${found.tenant?.name}` })]) }),
    });
    expect(await screen.findByRole("link", { name: "of Acme" })).toBeTruthy();
    fireEvent.change(await screen.findByRole("combobox", { name: "Tenant" }), { target: { value: "rival" } });
    await waitFor(() =>
      expect(asked.find((one) => one.method === "POST")).toMatchObject({
        url: "/console/api/tenant",
        body: { slug: "rival" },
      }),
    );
    expect(await screen.findByText("Everything Rival runs.")).toBeTruthy();
    expect(await screen.findByRole("link", { name: "of Rival" })).toBeTruthy();
    expect(screen.queryByRole("link", { name: "of Acme" })).toBeNull();
  });

  it("shows nobody with one tenant a choice, says who is signed in, and signs out", async () => {
    let found = session();
    await open("/", {
      "GET /console/api/session": () => found,
      "POST /console/api/logout": () => (found = SIGNED_OUT),
    });
    expect(screen.queryByRole("combobox", { name: "Tenant" })).toBeNull();
    press("Account");
    expect(await screen.findByText("ada · Acme")).toBeTruthy();
    fireEvent.click(screen.getByRole("menuitem", { name: "Sign out" }));
    await waitFor(() => expect(heading()).toBe("Sign in to Penstock"));
  });
});
