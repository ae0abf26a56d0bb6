import { screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { figure, openPage, rowsOf } from "@/testing/app";
import { describePageStates } from "@/testing/page-states";
import { attention, broker, cluster, operation, session } from "@/testing/samples";
import { ok, unavailable } from "@/testing/server";

const base = { clusters: ok([cluster()]), attention: ok([]), operations: ok([operation()]) };
const open = (parts: object = {}, more = {}) =>
  openPage("/", { "GET /console/api/pages/overview": { parts: { ...base, ...parts } }, ...more });

describePageStates({
  path: "/",
  page: "overview",
  title: "Overview",
  parts: base,
  part: "clusters",
  shows: "orders",
  refusable: false,
});

describe("the overview", () => {
  it("shows every cluster with its brokers, and what runs", async () => {
    await open({
      clusters: ok([
        cluster({ brokers: [broker(), broker({ id: 2, alive: false })] }),
        cluster({ id: "c2", name: "away", kind: "registered", phase: "FAILED", brokers: [] }),
      ]),
      operations: ok([operation({ state: "running" })]),
    });
    expect((await rowsOf("Clusters")).map((row) => row.slice(0, 5))).toEqual([
      ["away", "Failed", "0 of 0", "10.0.0.1:9092", "registered"],
      ["orders", "Running", "1 of 2", "10.0.0.1:9092", "by Penstock"],
    ]);
    expect([figure("Clusters"), figure("Brokers alive"), figure("Operations running")]).toEqual([
      "21 running",
      "1 of 21 broker down",
      "1live below",
    ]);
  });

  it("says what needs attention, with the way there", async () => {
    await open({
      attention: ok([attention(), attention({ key: "2", severity: "warning", text: "Broker 2 not serving." })]),
    });
    await rowsOf("Clusters");
    const list = within(screen.getByRole("list", { name: "Needs attention" }));
    expect(list.getByRole("link", { name: attention().text }).getAttribute("href")).toBe("/alerts/al_1");
    expect(list.getByText("Broker 2 not serving.")).toBeTruthy();
    expect(figure("Needs attention")).toBe("2see below");
  });

  it("does not say that nothing needs attention while it does not know", async () => {
    await open({ attention: unavailable("The cluster did not answer in time.") });
    await rowsOf("Clusters");
    expect(figure("Needs attention")).toBe("–not known right now");
  });

  it("begins empty, and says what to do first", async () => {
    await open({ clusters: ok([]), operations: ok([]) });
    expect(await screen.findByText("No cluster yet")).toBeTruthy();
    for (const text of ["No operations yet"]) expect(screen.getByText(text)).toBeTruthy();
    expect(screen.getAllByRole("link", { name: "New cluster" }).length).toBeGreaterThan(0);
  });

  it("offers a viewer no new cluster", async () => {
    await open({}, { "GET /console/api/session": session({ can_write: false }) });
    await rowsOf("Clusters");
    expect(screen.queryByRole("link", { name: "New cluster" })).toBeNull();
  });
});
