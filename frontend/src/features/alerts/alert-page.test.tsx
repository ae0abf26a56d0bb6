import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { figure, fill, heading, openPage, press, rowsOf } from "@/testing/app";
import { listed, session } from "@/testing/samples";
import { alert, alertDetail, alertRule, delivery, silence } from "@/testing/samples-alerts";
import { type Answers, PENDING, Refusal } from "@/testing/server";

const URL = "GET /api/v1/alerts/al_1";
const open = (answer: unknown = alertDetail(), more: Answers = {}) =>
  openPage("/alerts/al_1", {
    [URL]: answer,
    "GET /api/v1/alerts": listed([alert()]),
    "GET /api/v1/alert-rules": { data: [alertRule()] },
    "GET /api/v1/deliveries": listed([delivery()]),
    ...more,
  });
const dialog = async () => within(await screen.findByRole("dialog"));

describe("an alert", () => {
  it("says what is wrong, by which numbers, and what is not known of it", async () => {
    await open();
    expect(await screen.findByText(/loses unread records of sales \(the first in 40 min\)/)).toBeTruthy();
    expect(heading()).toBe("Consumer group loses unread records");
    expect(figure("first loss in")).toBe("40m");
    expect(figure("lag records")).toBe("1,200");
    expect(figure("expires in")).toBe("not known");
    expect(screen.getByRole("link", { name: "readers" }).getAttribute("href")).toBe("/clusters/c1/groups/readers");
  });

  it("leads to what is affected, and counts one as one", async () => {
    await open(alertDetail({ members: ["sales"], member_count: 1, unit: "topics" }));
    const affected = within(await screen.findByRole("list", { name: "Affected" }));
    expect(affected.getByRole("link", { name: "sales" }).getAttribute("href")).toBe("/clusters/c1/topics/sales");
    expect(figure("Affected")).toBe("1topic");
    document.body.replaceChildren();
    await open(alertDetail({ members: ["2"], member_count: 3, unit: "brokers" }));
    const brokers = within(await screen.findByRole("list", { name: "Affected" }));
    expect(brokers.getByRole("link", { name: "broker 2" }).getAttribute("href")).toBe("/clusters/c1/brokers/2");
    expect(brokers.getByText("and 2 more")).toBeTruthy();
    expect(figure("Affected")).toBe("3brokers");
  });

  it("shows its moves, the newest first, and who was told", async () => {
    await open();
    const rows = await rowsOf("History");
    expect(rows.map((row) => [row[1], row[3], row[4], row[5]])).toEqual([
      ["pending→firing", "it has held for 30 s", "the rule", "made"],
      ["none→pending", "it began to hold", "the rule", "none"],
    ]);
  });

  it("says to whom it was told, and what came of it", async () => {
    const { asked } = await open();
    expect((await rowsOf("Deliveries"))[0]?.slice(3, 6)).toEqual(["firing", "16", "It answered 404. (HTTP 404)"]);
    expect(asked.map((one) => one.url)).toContain("/api/v1/deliveries?page_size=200&alert_id=al_1");
  });

  it("says that it is not known now", async () => {
    await open(alertDetail({ unknown: true }));
    expect(await screen.findByText("Not known now")).toBeTruthy();
    expect(screen.getByText("not known now")).toBeTruthy();
  });

  it("is acknowledged with a note, as it was seen", async () => {
    let found = alertDetail();
    const { asked } = await open(() => found, {
      "POST /api/v1/alerts/al_1/acknowledgement": () =>
        (found = alertDetail({ state: "acknowledged", acknowledged_by: "user:ada", note: "on it" })),
    });
    await rowsOf("History");
    press("Acknowledge");
    fill("Note", "on it");
    fireEvent.click((await dialog()).getByRole("button", { name: "Acknowledge" }));
    expect(await screen.findByText("Note of ada")).toBeTruthy();
    const sent = asked.find((one) => one.method === "POST");
    expect([sent?.body, sent?.ifMatch]).toEqual([{ note: "on it" }, '"1"']);
    await waitFor(() => expect(screen.queryByRole("button", { name: "Acknowledge" })).toBeNull());
  });

  it("is silenced by what it is about", async () => {
    const { asked } = await open(alertDetail(), { "POST /api/v1/silences": silence() });
    await rowsOf("History");
    press("Silence");
    fill("Reason", "known");
    fireEvent.click((await dialog()).getByRole("button", { name: "Silence" }));
    await waitFor(() =>
      expect(asked.find((one) => one.method === "POST")?.body).toMatchObject({
        rule: "group-losing-data",
        cluster_id: "c1",
        subject: "group/readers",
        match: "literal",
        starts_at: null,
        reason: "known",
      }),
    );
  });

  it("is only looked at by viewers", async () => {
    await open(alertDetail(), { "GET /console/api/session": session({ can_write: false, can_write_tenant: false }) });
    await rowsOf("History");
    expect(screen.queryByRole("button", { name: "Acknowledge" })).toBeNull();
    expect(screen.queryByRole("button", { name: "Silence" })).toBeNull();
  });

  it("is acknowledged, not silenced, by those with grants over some clusters: silences are the tenant's", async () => {
    await open(alertDetail(), { "GET /console/api/session": session({ can_write_tenant: false }) });
    await rowsOf("History");
    expect(screen.getByRole("button", { name: "Acknowledge" })).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Silence" })).toBeNull();
  });

  it.each([
    [403, "This needs a stronger role or scope"],
    [404, "Alert not found"],
  ])("gives way to a refusal (%i)", async (status, text) => {
    await open(new Refusal(status, text));
    await waitFor(() => expect(heading()).toBe(text));
  });

  it("shows placeholders, then a failure that can be asked again", async () => {
    await open(PENDING);
    expect((await screen.findAllByLabelText("Loading")).length).toBeGreaterThan(0);
    await open(new Refusal(500, "The request cannot be served", "The service failed on its side."));
    expect(await screen.findByRole("button", { name: "Try again" })).toBeTruthy();
  });
});
