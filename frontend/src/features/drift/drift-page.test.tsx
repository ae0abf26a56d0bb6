import { screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, press, rowsOf } from "@/testing/app";
import { describePageStates } from "@/testing/page-states";
import { session } from "@/testing/samples";
import { clusterDrift, difference } from "@/testing/samples-drift";
import { planOf } from "@/testing/samples-plans";
import { type Answers, ok } from "@/testing/server";
import type { ClusterDrift } from "@/lib/types";

const open = (drift: Partial<ClusterDrift> = {}, answers: Answers = {}) =>
  openPage("/clusters/c1/drift", {
    "GET /console/api/pages/drift/c1": { parts: { drift: ok(clusterDrift(drift)) } },
    ...answers,
  });

describePageStates({
  path: "/clusters/c1/drift",
  page: "drift/c1",
  title: "Changed outside",
  parts: { drift: ok(clusterDrift()) },
  part: "drift",
  shows: "log.retention.ms",
});

describe("what is not as it was left", () => {
  it("says what it was, what it is, since when and who, as far as that is known", async () => {
    await open();
    const rows = await rowsOf("Differences");
    expect(rows.map((row) => row.slice(0, 3))).toEqual([
      ["quota user app producer_byte_rate", "2000", "not set by this operation"],
      ["replicas sales racks", "2000", "1000 a rule of this service"],
      ["broker setting log.retention.ms", "2000", "1000 by this operation"],
    ]);
    expect(rows[0]?.[3]).toMatch(/^before /);
    expect(rows[2]?.[3]).toMatch(/^between .+ and /);
    expect(rows[0]?.[4]).toMatch(/^User:eve from 10\.1\.2\.3/);
    expect(rows[2]?.[4]?.trim()).toBe(
      "unknown, outside of this service. Of broker 2 not all of the audit log could be read.",
    );
    expect(screen.getByRole("link", { name: "Operation that changed racks of sales" }).getAttribute("href")).toBe(
      "/operations/op_9",
    );
    expect(screen.getByText("Broker 3, on which replicas were, is not in the cluster.")).toBeTruthy();
    expect(screen.getByText(/4 more differences are not listed/)).toBeTruthy();
    expect(screen.getByText(/1 operation is under way/)).toBeTruthy();
  });

  it("says of what was not read that it is unknown, never that nothing differs", async () => {
    await open({ data: [], left_out: 0 });
    expect(await screen.findByText("Nothing is known to be changed outside")).toBeTruthy();
    expect(screen.getByText(/Whether ACLs were changed is unknown: the cluster refused/)).toBeTruthy();
    expect(screen.getByText(/compared as they were read last: broker 2 did not say/)).toBeTruthy();
  });

  it("says that nothing differs only where all was read", async () => {
    const areas = clusterDrift().areas.map((area) => ({ ...area, as_of: "2026-11-21T10:00:00Z", count: 0 }));
    await open({ data: [], left_out: 0, under_way: [], areas });
    expect(await screen.findByText("Nothing was changed outside")).toBeTruthy();
  });

  it("plans either way", async () => {
    const { asked } = await open({ data: [difference()] }, { "POST /api/v1/plans": planOf("cluster.configure") });
    await screen.findByText("log.retention.ms");
    press(/^Take over log\.retention\.ms/);
    const posted = () => asked.find((one) => one.method === "POST");
    await waitFor(() => expect(posted()).toBeDefined());
    expect(posted()?.body).toEqual({
      kind: "cluster.configure",
      cluster_id: "c1",
      inputs: { config: { "log.retention.ms": "2000" }, adopt: true },
    });
    expect((await rowsOf("Settings of all brokers"))[0]?.[0]).toBe("log.retention.ms");
  });

  it("offers readers no plan", async () => {
    await open({}, { "GET /console/api/session": session({ can_write: false, writes: [] }) });
    await screen.findByText("log.retention.ms");
    expect(screen.queryByRole("button", { name: /Take over|Put back/ })).toBeNull();
  });

  it("shows hostile names as text", async () => {
    const name = "<img src=x onerror=alert(1)>";
    await open({ data: [difference({ area: "user", name })] });
    expect(await screen.findByText(name)).toBeTruthy();
    expect(document.querySelector("img")).toBeNull();
  });
});
