import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fill, openPage, press, rowsOf } from "@/testing/app";
import { describeListStates } from "@/testing/list-states";
import { listed, session } from "@/testing/samples";
import { alert, alertOverride, alertRule, silence } from "@/testing/samples-alerts";
import { type Answers, Refusal } from "@/testing/server";

const ALERTS = [
  alert({
    id: "al_2",
    severity: "warning",
    summary: "orders: group slow falls behind on sales.",
    rule: "group-falling-behind",
  }),
  alert(),
  alert({
    id: "al_3",
    severity: "critical",
    state: "acknowledged",
    acknowledged_by: "user:bob",
    summary: "orders: broker 2 is down.",
    rule: "broker-down",
    unknown: true,
  }),
];
const open = (search = "", more: Answers = {}) =>
  openPage(`/alerts${search}`, {
    "GET /api/v1/alerts": listed(ALERTS),
    "GET /api/v1/alert-rules": {
      data: [
        alertRule(),
        alertRule({ id: "broker-down", title: "Broker down", enabled: false, thresholds: [], overrides: [] }),
      ],
    },
    "GET /api/v1/alert-overrides": listed([alertOverride()]),
    "GET /api/v1/silences": listed([silence(), silence({ id: "si_2", state: "over", reason: "long ago" })]),
    ...more,
  });
const written = (asked: { method: string; url: string; body: unknown }[]) =>
  asked.filter((one) => one.method !== "GET").map((one) => [one.method, one.url, one.body]);
const dialog = async () => within(await screen.findByRole("dialog"));

describe("the list of alerts", () => {
  it("has the most harmful first, what fires before what somebody is at", async () => {
    await open();
    const rows = await rowsOf("Alerts");
    expect(rows.map((row) => row[0])).toEqual(["Critical", "Critical", "Warning"]);
    expect(rows[0]?.[1]).toContain("loses unread records of sales");
    expect(rows[1]?.[2]).toBe("Acknowledgednot known now");
    expect(rows[1]?.[4]).toBe("user:bob");
  });

  it("counts what fires in the navigation, with the worst of it", async () => {
    await open();
    expect(await screen.findByRole("img", { name: "2 alerts fire, the worst is critical" })).toBeTruthy();
  });

  it("does not count when nothing is known", async () => {
    await open("", { "GET /api/v1/alerts": new Refusal(503, "later") });
    expect((await screen.findByRole("img", { name: "alerts not known" })).textContent).toBe("?");
  });

  it("asks the server for a severity and for those that are over", async () => {
    const { asked } = await open("?severity=critical&state=resolved");
    await rowsOf("Alerts");
    expect(asked.map((one) => one.url)).toContain("/api/v1/alerts?page_size=200&state=resolved&severity=critical");
  });

  it("says that all is well, and otherwise that nothing matches", async () => {
    await open("", { "GET /api/v1/alerts": listed([]) });
    expect(await screen.findByText("No alert fires")).toBeTruthy();
    await open("?q=there-is-none");
    expect(await screen.findByText("No alert matches")).toBeTruthy();
  });
});

describeListStates({
  path: "/alerts",
  url: "GET /api/v1/alerts",
  answer: listed(ALERTS),
  shows: "orders: broker 2 is down.",
});
describeListStates({
  path: "/alerts?tab=rules",
  url: "GET /api/v1/alert-rules",
  answer: { data: [alertRule()] },
  shows: "one a group, 1 set by you",
  more: { "GET /api/v1/alert-overrides": listed([]) },
});
describeListStates({
  path: "/alerts?tab=silences",
  url: "GET /api/v1/silences",
  answer: listed([silence()]),
  shows: "the nightly load",
});

describe("rules", () => {
  it("show what holds for the tenant, and what would by default", async () => {
    await open("?tab=rules");
    const rows = await rowsOf("Rules");
    expect(rows[0]?.[2]).toBe("Lag in time from which it counts: 5m, by default 1m");
    expect(rows[0]?.slice(3, 5)).toEqual(["2m", "2m"]);
    expect(rows[1]?.[1]).toBe("Off");
    expect((await rowsOf("Set by the tenant"))[0]?.slice(0, 3)).toEqual([
      "Consumer group falls behind",
      "the whole tenant",
      "Lag in time from which it counts: 5m",
    ]);
  });

  it("have their names as soon as those are known", async () => {
    let isKnown = false;
    const { client } = await open("?tab=rules", {
      "GET /api/v1/alert-rules": () => (isKnown ? { data: [alertRule()] } : new Refusal(503, "later")),
    });
    // Rules have their titles of the catalogue, thresholds theirs once the rules are there.
    expect((await rowsOf("Set by the tenant"))[0]?.[0]).toBe("Consumer group falls behind");
    isKnown = true;
    await act(() => client.invalidateQueries({ queryKey: ["page", "alert-rules"] }));
    await waitFor(async () =>
      expect((await rowsOf("Set by the tenant"))[0]?.slice(0, 3)).toEqual([
        "Consumer group falls behind",
        "the whole tenant",
        "Lag in time from which it counts: 5m",
      ]),
    );
  });

  it("are set for a group, with the threshold's bounds at hand", async () => {
    const { asked } = await open("?tab=rules", { "POST /api/v1/alert-overrides": alertOverride() });
    await rowsOf("Rules");
    press("Set Consumer group falls behind");
    const form = await dialog();
    fireEvent.click(form.getByRole("combobox", { name: "Only for" }));
    fireEvent.click(await screen.findByRole("option", { name: "Groups" }));
    fireEvent.change(form.getByLabelText("Name"), { target: { value: "nightly" } });
    expect(form.getByRole("button", { name: "Save" }).hasAttribute("disabled")).toBe(true);
    fireEvent.change(form.getByLabelText("Lag in time from which it counts"), { target: { value: "900" } });
    fireEvent.click(form.getByRole("button", { name: "Save" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(written(asked)).toEqual([
      [
        "POST",
        "/api/v1/alert-overrides",
        {
          rule: "group-falling-behind",
          cluster_id: null,
          resource: "group",
          match: "literal",
          name: "nightly",
          thresholds: { lag_s: 900 },
          severity: null,
          enabled: null,
          note: "",
        },
      ],
    ]);
  });

  it("are changed only as they were seen, and deleted", async () => {
    const { asked } = await open("?tab=rules", { "DELETE /api/v1/alert-overrides/ao_1": {} });
    await rowsOf("Set by the tenant");
    press("Actions for Consumer group falls behind of the whole tenant");
    fireEvent.click(await screen.findByRole("menuitem", { name: "Delete" }));
    fireEvent.click((await dialog()).getByRole("button", { name: "Delete" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(asked.find((one) => one.method === "DELETE")?.ifMatch).toBe('"1"');
  });

  it("are read and not set by viewers", async () => {
    await open("?tab=rules", { "GET /console/api/session": session({ can_write_tenant: false }) });
    await rowsOf("Rules");
    expect(screen.queryByRole("button", { name: /^Set / })).toBeNull();
    expect(screen.queryByRole("button", { name: /^Actions/ })).toBeNull();
  });
});

describe("silences", () => {
  it("show what they keep quiet, why, and that some are over", async () => {
    await open("?tab=silences");
    expect((await rowsOf("Silences")).map((row) => row.slice(0, 2))).toEqual([
      ["Active", "cluster orders, group/nightly-…the nightly load"],
      ["Over", "cluster orders, group/nightly-…long ago"],
    ]);
    expect(screen.getAllByRole("button", { name: /^Actions for the silence/ })).toHaveLength(1);
  });

  it("are read and not set by those who may not write what is of the whole tenant", async () => {
    await open("?tab=silences", { "GET /console/api/session": session({ can_write_tenant: false }) });
    await rowsOf("Silences");
    expect(screen.queryByRole("button", { name: "New silence" })).toBeNull();
    expect(screen.queryByRole("button", { name: /^Actions/ })).toBeNull();
  });

  it("are planned as maintenance windows", async () => {
    const { asked } = await open("?tab=silences", { "POST /api/v1/silences": silence({ planned: true }) });
    await rowsOf("Silences");
    press("New silence");
    const form = await dialog();
    expect(await form.findByText("This silences every alert of the tenant.")).toBeTruthy();
    fireEvent.click(form.getByRole("radio", { name: "Maintenance window" }));
    fill("Begins (your time)", "2026-12-01T22:00");
    fill("Subject", "topic/sales");
    expect(form.getByRole("button", { name: "Plan it" }).hasAttribute("disabled")).toBe(true);
    fill("Reason", "new disks");
    fireEvent.click(form.getByRole("button", { name: "Plan it" }));
    expect(await screen.findByText("The maintenance window is planned.")).toBeTruthy();
    const starts = new Date("2026-12-01T22:00");
    expect(written(asked)).toEqual([
      [
        "POST",
        "/api/v1/silences",
        {
          rule: null,
          cluster_id: null,
          match: "literal",
          subject: "topic/sales",
          starts_at: starts.toISOString(),
          ends_at: new Date(starts.getTime() + 3_600_000).toISOString(),
          reason: "new disks",
        },
      ],
    ]);
  });

  it("are ended at once", async () => {
    const { asked } = await open("?tab=silences", { "DELETE /api/v1/silences/si_1": {} });
    await rowsOf("Silences");
    press("Actions for the silence of cluster orders, group/nightly-…");
    fireEvent.click(await screen.findByRole("menuitem", { name: "End now" }));
    fireEvent.click((await dialog()).getByRole("button", { name: "End it now" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(written(asked)).toEqual([["DELETE", "/api/v1/silences/si_1", undefined]]);
  });
});
