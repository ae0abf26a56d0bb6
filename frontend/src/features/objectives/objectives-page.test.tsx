import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { ObjectiveRow } from "@/lib/insights";
import type { LagObjective } from "@/lib/objectives";
import { fill, heading, openPage, press, rowsOf } from "@/testing/app";
import { describeListStates } from "@/testing/list-states";
import { cluster, ETAG, listed, over, session } from "@/testing/samples";
import { type Answers, ok, PENDING, Refusal, unavailable } from "@/testing/server";

const LIST = "GET /api/v1/lag-objectives";
const KEPT = "GET /api/v1/clusters/c1/analytics/lag-objectives";
const AT = "2026-11-21T10:00:00Z";
const objective = over<LagObjective>({
  id: "lo_1",
  cluster_id: null,
  match: "prefix",
  group: "billing-",
  topic: null,
  seconds: 300,
  share: 0.9995,
  note: "invoices wait",
  created_by: "user:ada",
  created_at: AT,
  etag: ETAG,
});
const kept = over<ObjectiveRow>({
  group: "readers",
  topic: "sales",
  objective_id: null,
  seconds: 60,
  share: 0.99,
  verdict: "within",
  good: 860,
  bad: 40,
  unknown: 0,
  good_share: 0.956,
  budget_left: 0.5,
  burn_5m: 100,
  burn_30m: 66.72,
  burn_1h: 33.3,
  burn_6h: null,
});
const told = (data: ObjectiveRow[], more: object = {}) => ({
  analysis: "lag-objectives",
  formula_version: 1,
  inputs: [],
  run_id: "run_1",
  as_of: AT,
  from: AT,
  to: AT,
  seen_share: 1,
  complete: true,
  data,
  ...more,
});
const DEFAULTS: Answers = {
  [KEPT]: told([kept(), kept({ group: "late", verdict: "fast_burn", budget_left: -3.44, objective_id: "lo_1" })]),
  [LIST]: listed([objective()]),
};
const open = (more: Answers = {}, search = "") => openPage(`/objectives${search}`, { ...DEFAULTS, ...more });
const overviewOf = (clusters: unknown) => ({
  parts: { clusters, attention: ok([]), operations: ok([]), hosts: ok([]) },
});
const written = (asked: { method: string; url: string; body: unknown }[]) =>
  asked.filter((one) => one.method !== "GET").map((one) => [one.method, one.url, one.body]);
const dialog = async () => within(await screen.findByRole("dialog"));

describeListStates({
  path: "/objectives",
  url: LIST,
  answer: listed([objective()]),
  shows: "invoices wait",
  more: { [KEPT]: told([]) },
});

describe("lag objectives", () => {
  it("show what burns first, by which objective, and how much of the budget is left", async () => {
    await open();
    expect(await rowsOf("Objectives")).toEqual([
      [
        "late",
        "sales",
        "Fast burn",
        "≤ 1m, 99 %",
        "95.6 %",
        "−344 %",
        "100×",
        "66.7×",
        "33.3×",
        "not known",
        "0 of 900 windows",
      ],
      [
        "readers",
        "sales",
        "Within",
        "≤ 1m, 99 %default",
        "95.6 %",
        "50 %",
        "100×",
        "66.7×",
        "33.3×",
        "not known",
        "0 of 900 windows",
      ],
    ]);
    expect((await rowsOf("Set objectives")).map((row) => row.slice(0, 2))).toEqual([
      ["groups billing-… on every topic, every clusterinvoices wait", "at most 5m behind for 99.95 % of the time"],
    ]);
  });

  it("are set for a group by name, in minutes and per cent", async () => {
    const { asked } = await open({ "POST /api/v1/lag-objectives": objective({ id: "lo_2" }) });
    await rowsOf("Set objectives");
    press("Set an objective");
    const form = await dialog();
    fill("Name", "billing");
    fill("Topic", "orders");
    fill("Behind by at most", "2");
    fireEvent.click(form.getByRole("button", { name: "Set it" }));
    await waitFor(() =>
      expect(written(asked)).toEqual([
        [
          "POST",
          "/api/v1/lag-objectives",
          {
            seconds: 120,
            share: 0.99,
            note: "",
            cluster_id: null,
            match: "literal",
            group: "billing",
            topic: "orders",
          },
        ],
      ]),
    );
    const read = () => asked.filter((one) => one.url.startsWith(KEPT.slice("GET ".length)));
    await waitFor(() => expect(read()).toHaveLength(2));
  });

  it("are refused by the form where the share says nothing, and by the service in its words", async () => {
    await open({
      "POST /api/v1/lag-objectives": new Refusal(409, "There is an objective of just that; change it."),
    });
    await rowsOf("Set objectives");
    press("Set an objective");
    const form = await dialog();
    fill("Of the time, %", "100");
    expect((form.getByRole("button", { name: "Set it" }) as HTMLButtonElement).disabled).toBe(true);
    fill("Of the time, %", "99.9");
    expect(form.getByText(/over 14 days it may be later for 20\.2 min/)).toBeTruthy();
    fireEvent.click(form.getByRole("button", { name: "Set it" }));
    expect(await form.findByText("There is an objective of just that; change it.")).toBeTruthy();
    fireEvent.click(form.getByRole("button", { name: "Cancel" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  });

  it("are changed and deleted by their version", async () => {
    const { asked } = await open({
      "PUT /api/v1/lag-objectives/lo_1": objective(),
      "DELETE /api/v1/lag-objectives/lo_1": {},
    });
    await rowsOf("Set objectives");
    press(/^Actions for the objective of groups billing-…/);
    fireEvent.click(await screen.findByRole("menuitem", { name: "Change" }));
    const form = await dialog();
    expect((form.getByLabelText("Name") as HTMLInputElement).disabled).toBe(true);
    expect((form.getByLabelText("Behind by at most") as HTMLInputElement).value).toBe("5");
    fireEvent.click(form.getByRole("button", { name: "Save" }));
    await waitFor(() => expect(written(asked)).toHaveLength(1));
    expect(written(asked)[0]).toEqual([
      "PUT",
      "/api/v1/lag-objectives/lo_1",
      { seconds: 300, share: 0.9995, note: "invoices wait" },
    ]);
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    press(/^Actions for the objective of groups billing-…/);
    fireEvent.click(await screen.findByRole("menuitem", { name: "Delete" }));
    fireEvent.click((await dialog()).getByRole("button", { name: "Delete" }));
    await waitFor(() => expect(written(asked)[1]?.slice(0, 2)).toEqual(["DELETE", "/api/v1/lag-objectives/lo_1"]));
  });

  it("keep a menu open when the clusters' names arrive after it was opened", async () => {
    let arrive: () => void = () => undefined;
    const names = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    await open({
      [LIST]: listed([objective({ cluster_id: "c1" })]),
      "GET /console/api/pages/overview": async () => {
        await names;
        return overviewOf(ok([cluster()]));
      },
    });
    await rowsOf("Set objectives");
    press(/^Actions for the objective of groups billing-…/);
    const item = await screen.findByRole("menuitem", { name: "Change" });
    arrive();
    await waitFor(async () => expect((await rowsOf("Set objectives"))[0]?.[0]).toContain(`cluster ${cluster().name}`));
    expect(screen.getByRole("menuitem", { name: "Change" })).toBe(item);
  });

  it("are only looked at by viewers", async () => {
    await open({ "GET /console/api/session": session({ can_write_tenant: false }) });
    await rowsOf("Set objectives");
    expect(screen.queryByRole("button", { name: "Set an objective" })).toBeNull();
    expect(screen.queryByRole("button", { name: /^Actions for/ })).toBeNull();
  });

  it("give way to a refusal, for those with grants over some clusters alone", async () => {
    await open({
      "GET /console/api/session": session({ can_write_tenant: false }),
      [LIST]: new Refusal(403, "You may not see this", "It takes a grant on the whole tenant."),
    });
    await waitFor(() => expect(heading()).toBe("You may not see this"));
    expect(screen.getByText("It takes a grant on the whole tenant.")).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Set an objective" })).toBeNull();
  });

  it.each([
    ["are awaited", PENDING, "Loading"],
    ["cannot be read", new Refusal(500, "It cannot be served", "The service failed on its side."), "failed"],
    ["are not known", overviewOf(unavailable("The database is away.")), /The database is away\./],
    ["are none", overviewOf(ok([])), "There is no cluster yet"],
  ])("say so in the place of how they are kept when clusters %s", async (_, overview, said) => {
    const { asked } = await open({ "GET /console/api/pages/overview": overview });
    await rowsOf("Set objectives");
    const card = within(screen.getByRole("region", { name: "How they are kept" }));
    if (said === "Loading") expect(card.getByLabelText("Loading")).toBeTruthy();
    else expect(await card.findByText(said === "failed" ? "The service failed on its side." : said)).toBeTruthy();
    expect(asked.map((one) => one.url).filter((url) => url.includes("/analytics/lag-objectives"))).toEqual([]);
  });

  it("do not show another cluster than the one that the address names", async () => {
    const { asked, router } = await open({}, "?cluster=c9");
    const card = within(await screen.findByRole("region", { name: "How they are kept" }));
    expect(await card.findByText("Cluster not found")).toBeTruthy();
    expect(card.getByText(/The address names c9/)).toBeTruthy();
    expect(asked.map((one) => one.url).filter((url) => url.includes("/analytics/lag-objectives"))).toEqual([]);
    fireEvent.click(card.getByRole("combobox", { name: "Cluster of the groups" }));
    // The navigation's own choice of a cluster has the same name.
    const choices = await screen.findAllByRole("option", { name: cluster().name });
    fireEvent.click(choices.filter((choice) => choice.tagName !== "OPTION")[0] as HTMLElement);
    expect(await rowsOf("Objectives")).toHaveLength(2);
    expect(router.state.location.search).toEqual({ cluster: "c1" });
  });

  it("say that nothing is set, and that nothing is known yet", async () => {
    await open({ [LIST]: listed([]), [KEPT]: told([], { as_of: null }) });
    expect(await screen.findByText("Nothing is set")).toBeTruthy();
    expect(await screen.findByText("Not known yet")).toBeTruthy();
  });

  it("show one part while the other is awaited", async () => {
    await open({ [KEPT]: PENDING });
    expect(await rowsOf("Set objectives")).toHaveLength(1);
    expect(screen.getAllByLabelText("Loading").length).toBeGreaterThan(0);
  });
});
