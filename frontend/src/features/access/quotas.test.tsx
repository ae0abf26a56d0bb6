import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, press, rowsOf } from "@/testing/app";
import { AT, plan, session } from "@/testing/samples";
import { type Answers, ok, unavailable } from "@/testing/server";
import { noDrift, quotasPage } from "@/testing/samples-access";
import { isQuota, quotaChanges, quotaText, textsOf } from "@/lib/quotas";

const MIB = 1024 * 1024;
const none = {
  producer_byte_rate: null,
  consumer_byte_rate: null,
  request_percentage: null,
  controller_mutation_rate: null,
};
const quota = {
  entity: [{ type: "user", name: "app" }],
  words: "user app",
  quotas: { ...none, producer_byte_rate: 2 * MIB, request_percentage: 50 },
  managed: false,
};
const own = {
  ...quota,
  entity: [{ type: "user", name: "penstock-admin" }],
  words: "user penstock-admin",
  managed: true,
};
const some = (...data: object[]) => ok(quotasPage(...data));
const read = { as_of: AT, stale_reason: null };
const parts = {
  users: ok([
    { username: "app", mechanisms: ["SCRAM-SHA-512"], managed: false, rules: { count: 0, denies: 0, first: [] } },
  ]),
  users_counts: ok({ page: 1, size: 50, matched: 1, total: 1, managed: [] }),
  acls_counts: ok({ page: 1, size: 50, matched: 0, total: 0 }),
  overlaps: ok([]),
  acls: ok([]),
  quotas: some(quota, own),
  drift: ok(noDrift()),
};
const open = (more: object = {}, answers: Answers = {}) =>
  openPage("/clusters/c1/access?tab=quotas", {
    "GET /console/api/pages/access/c1": { parts: { ...parts, ...more } },
    "GET /api/v1/clusters/c1/users": { data: [], page: { next: null, has_more: false } },
    "POST /api/v1/plans": plan({
      kind: "quota.set",
      diff: { before: none, after: { ...none, producer_byte_rate: MIB } },
    } as never),
    ...answers,
  });
const posted = (asked: { method: string; body: unknown }[]) => asked.find((one) => one.method === "POST")?.body;
const dialog = async () => within(await screen.findByRole("dialog"));

describe("quotas", () => {
  it("says who is bounded, in human units, per broker", async () => {
    await open();
    expect((await rowsOf("Quotas")).map((row) => row.slice(0, 5))).toEqual([
      ["user app", "2 MiB/s", "–", "50 %", "–"],
      ["user penstock-admin", "2 MiB/s", "–", "50 %", "–"],
    ]);
    expect(screen.getByRole("heading", { name: "Quotas, per broker" })).toBeTruthy();
    expect(screen.getAllByTitle("Produces at most: 2,097,152 per broker")).toHaveLength(2);
  });

  it("plans only what changes, and shows before and after", async () => {
    const { asked } = await open();
    await rowsOf("Quotas");
    press("Change the quotas of user app");
    const form = await dialog();
    const produces = form.getByLabelText(/^Produces at most/) as HTMLInputElement;
    const review = form.getByRole("button", { name: "Review plan" }) as HTMLButtonElement;
    expect([produces.value, review.disabled]).toEqual(["2", true]);
    fireEvent.change(produces, { target: { value: "none" } });
    expect(form.getByText("A number above 0, or nothing")).toBeTruthy();
    expect(review.disabled).toBe(true);
    fireEvent.change(produces, { target: { value: "1" } });
    fireEvent.change(form.getByLabelText(/^Request time/), { target: { value: "" } });
    fireEvent.click(review);
    await waitFor(() =>
      expect(posted(asked)).toEqual({
        kind: "quota.set",
        cluster_id: "c1",
        inputs: { user: "app", quotas: { producer_byte_rate: MIB, request_percentage: null } },
      }),
    );
    expect(await rowsOf("Changes")).toEqual([["Produces at most", "no quota", "1 MiB/s"]]);
  });

  it("sets those of a client id of every user's, and begins with what is set already", async () => {
    const etl = { ...quota, entity: [{ type: "client-id", name: "etl" }], words: "client id etl" };
    const { asked } = await open(
      { quotas: some() },
      { "GET /api/v1/clusters/c1/quotas": { data: [etl], observed: read } },
    );
    await screen.findByText("No quotas yet");
    press("Set quotas");
    const form = await dialog();
    fireEvent.click(form.getByLabelText("Of", { selector: "input" }));
    fireEvent.click(await screen.findByRole("option", { name: "One client id" }));
    fireEvent.change(form.getByLabelText("Client id"), { target: { value: "etl" } });
    await waitFor(() => expect((form.getByLabelText(/^Produces at most/) as HTMLInputElement).value).toBe("2"));
    expect(asked.filter(({ url }) => url.endsWith("/quotas?q=etl"))).toHaveLength(1);
    fireEvent.change(form.getByLabelText(/^Consumes at most/), { target: { value: "0.5" } });
    fireEvent.click(form.getByRole("button", { name: "Review plan" }));
    await waitFor(() =>
      expect(posted(asked)).toMatchObject({
        inputs: { client_id: "etl", quotas: { consumer_byte_rate: MIB / 2 } },
      }),
    );
  });

  it("are searched, ordered and paged by the server", async () => {
    const { asked, router } = await open({ quotas: ok({ data: [quota], page: 2, size: 50, matched: 51, total: 60 }) });
    await rowsOf("Quotas");
    expect(screen.getByRole("tab", { name: "Quotas (60)" })).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: /^Produces at most/ }));
    await waitFor(() => expect(asked.some(({ url }) => /quotas_sort=-?producer_byte_rate/.test(url))).toBe(true));
    fireEvent.change(screen.getByRole("searchbox", { name: "Search quotas" }), { target: { value: "app" } });
    await waitFor(() => expect(asked.some(({ url }) => url.includes("quotas_q=app"))).toBe(true));
    expect(router.state.location.search).toMatchObject({ tab: "quotas", q: "app" });
    expect(asked.some(({ url }) => /[?&](?:q|users_q|drift_q)=/.test(url))).toBe(false);
  });

  it("say that nothing matches, and not that there are none", async () => {
    await openPage("/clusters/c1/access?tab=quotas&q=nobody", {
      "GET /console/api/pages/access/c1": {
        parts: { ...parts, quotas: ok({ data: [], page: 1, size: 50, matched: 0, total: 60 }) },
      },
    });
    expect(await screen.findByText("No quota matches")).toBeTruthy();
    expect(screen.queryByText("No quotas yet")).toBeNull();
  });

  it("offers no change of the service's own, and none to a viewer", async () => {
    await open();
    await rowsOf("Quotas");
    expect(screen.queryByRole("button", { name: "Change the quotas of user penstock-admin" })).toBeNull();
  });

  it("offers a viewer no change", async () => {
    await open({}, { "GET /console/api/session": session({ can_write: false }) });
    await rowsOf("Quotas");
    expect(screen.queryByRole("button", { name: /quotas/i })).toBeNull();
  });

  it("is empty in words, and says why it could not be read", async () => {
    await open({ quotas: some() });
    expect(await screen.findByText("No quotas yet")).toBeTruthy();
  });

  it("does not take what could not be read for none", async () => {
    await open({ quotas: unavailable("The brokers do not let us read quotas.") });
    expect(await screen.findByText(/do not let us read quotas/)).toBeTruthy();
    expect(screen.queryByText("No quotas yet")).toBeNull();
  });
});

describe("the words of quotas", () => {
  it("round-trips what is set, and knows what is no quota", () => {
    const texts = textsOf(quota.quotas);
    expect(quotaChanges(texts, texts)).toBeNull();
    expect(quotaText("controller_mutation_rate", 5)).toBe("5/s");
    expect(["", "0.1", "0", "-1", "x", "1e12"].map(isQuota)).toEqual([true, true, false, false, false, false]);
  });
});
