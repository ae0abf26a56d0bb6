import { screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, press, rowsOf } from "@/testing/app";
import { describeListStates } from "@/testing/list-states";
import { event, listed, session } from "@/testing/samples";
import { platformHost } from "@/testing/samples-administration";
import { hostAlert } from "@/testing/samples-alerts";
import { type Answers, Refusal } from "@/testing/server";

const ALERTS = "GET /api/v1/operator/alerts";
const COMMON: Answers = {
  "GET /console/api/session": session({ user: { username: "root", email: "", is_staff: true } }),
  "GET /api/v1/operator/hosts": { data: [platformHost()] },
  "GET /api/v1/operator/hosts/host-1": platformHost(),
  "GET /api/v1/operator/hosts/host-1/events": listed([event()]),
};
const onHosts = (rows: unknown[], more: Answers = {}) =>
  openPage("/platform?tab=hosts", { ...COMMON, [ALERTS]: listed(rows), ...more });
const onHost = (answer: unknown) => openPage("/platform/hosts/host-1", { ...COMMON, [ALERTS]: answer });

describeListStates({
  path: "/platform?tab=hosts",
  url: ALERTS,
  answer: listed([hostAlert()]),
  shows: hostAlert().summary,
  more: COMMON,
});

describe("alerts about hosts", () => {
  it("say what is wrong, where, and lead to the host and the runbook, the worst first", async () => {
    const full = hostAlert({
      id: "al_h2",
      rule: "host-disk-filling",
      runbook: "host-disk-full",
      host_id: "host-2",
      severity: "critical",
      state: "acknowledged",
      acknowledged_by: "user:root",
      summary: "host-2: data directories are full to main 95%.",
    });
    const { asked } = await onHosts([hostAlert(), full]);
    const rows = await rowsOf("Alerts about hosts");
    expect(rows.map((row) => row[0])).toEqual(["Critical", "Warning"]);
    expect(rows[0]?.[2]).toContain("user:root");
    expect(screen.getByRole("link", { name: full.summary }).getAttribute("href")).toBe("/platform/hosts/host-2");
    expect(screen.getByRole("link", { name: "A host's disk fills up" }).getAttribute("href")).toBe(
      "/runbooks/host-disk-full",
    );
    expect(asked.some((one) => one.url === "/api/v1/operator/alerts?state=open&page_size=200")).toBe(true);
  });

  it("of several hosts at once lead to none of them", async () => {
    const others = hostAlert({ host_id: null, summary: "Host is silent: host/a and 9 more." });
    await onHosts([others]);
    await rowsOf("Alerts about hosts");
    expect(screen.queryByRole("link", { name: others.summary })).toBeNull();
  });

  it("are acknowledged at a click, once", async () => {
    const path = "/api/v1/operator/alerts/al_h1/acknowledgement";
    const { asked } = await onHosts([hostAlert()], { [`POST ${path}`]: hostAlert({ state: "acknowledged" }) });
    await rowsOf("Alerts about hosts");
    press(`Acknowledge: ${hostAlert().summary}`);
    expect(await screen.findByText("Acknowledged. It fires again when it gets worse.")).toBeTruthy();
    const written = asked.filter((one) => one.method === "POST");
    expect(written.map((one) => [one.url, one.body])).toEqual([[path, { note: "" }]]);
  });

  it("say why one could not be acknowledged", async () => {
    const path = "POST /api/v1/operator/alerts/al_h1/acknowledgement";
    await onHosts([hostAlert()], { [path]: new Refusal(409, "Conflict", "The alert is resolved, not firing.") });
    await rowsOf("Alerts about hosts");
    press(`Acknowledge: ${hostAlert().summary}`);
    expect(await screen.findByText("The alert is resolved, not firing.")).toBeTruthy();
  });

  it("say that nothing fires where all hosts are shown", async () => {
    await onHosts([]);
    expect(await screen.findByText("Nothing fires")).toBeTruthy();
  });

  it("are on the host's own page where there are any, and asked for that host", async () => {
    const { asked } = await onHost(listed([hostAlert()]));
    expect((await rowsOf("Alerts about hosts")).length).toBe(1);
    expect(asked.some((one) => one.url.includes("/operator/alerts?") && one.url.includes("host_id=host-1"))).toBe(true);
  });

  it("take no room on the page of a host that is well, and say there that they could not be read", async () => {
    await onHost(listed([]));
    await screen.findByText("About");
    expect(screen.queryByText("Alerts about hosts")).toBeNull();
  });

  it("that could not be read are not none", async () => {
    await onHost(new Refusal(503, "It cannot be served", "The database is away."));
    await waitFor(() => expect(screen.getByText("Alerts about hosts")).toBeTruthy());
    expect(screen.getAllByText("The database is away.").length).toBeGreaterThan(0);
  });
});
