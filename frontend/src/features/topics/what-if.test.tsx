import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { figure, openPage, press, rowsOf, whole } from "@/testing/app";
import { collector, plan, retention, session, topic } from "@/testing/samples";
import { type Answers, ok, PENDING, Refusal, unavailable } from "@/testing/server";

const AT = "2026-11-21T10:00:00Z";
const BASE = "GET /api/v1/clusters/c1/analytics";
const told = (data: object[], more: object = {}) => ({
  analysis: "retention-what-if",
  formula_version: 2,
  inputs: [],
  run_id: "run_1",
  as_of: AT,
  from: AT,
  to: AT,
  seen_share: 1,
  complete: true,
  period_s: 3600,
  data,
  ...more,
});
const rung = (hours: number, more: object = {}) => ({
  retention_s: hours * 3600,
  bytes_held: hours * 1024,
  bytes_freed: 0,
  disk_freed_bytes: 0,
  groups_losing: 0,
  groups_unknown: 0,
  ...more,
});
const LADDER = [
  // The topic's own retention is an hour (`config()` of the samples).
  rung(0.5, { disk_freed_bytes: 4096, groups_losing: 1 }),
  rung(1),
  rung(6, { bytes_held: null, disk_freed_bytes: null, groups_unknown: 2 }),
  rung(24, { disk_freed_bytes: -10_240 }),
];
const GROUPS = [
  {
    group: "readers",
    retention_s: 1800,
    verdict: "would_lose",
    losing_hours: 3,
    unknown_hours: 1,
    first_ms: 1_763_000_000_000,
    last_ms: 1_763_010_000_000,
  },
];
const open = (search = "", more: Answers = {}) =>
  openPage(`/clusters/c1/topics/sales?tab=analyses${search}`, {
    "GET /console/api/pages/topic/c1/sales": {
      parts: {
        topic: ok(topic()),
        retention: ok({ as_of: AT, stale_after: null, run_id: null, data: [retention()] }),
        collector: ok(collector()),
      },
    },
    [`${BASE}/rollups/topics`]: told([]),
    [`${BASE}/retention/sales/what-if`]: told(LADDER),
    [`${BASE}/retention/sales/what-if/groups`]: told(GROUPS),
    ...more,
  });
const planned = (asked: { method: string; body: unknown }[]) => asked.find((one) => one.method === "POST")?.body;

describe("what another retention would have meant", () => {
  it("begins at the present one, from which there is nothing to plan", async () => {
    await open();
    await rowsOf("What if");
    await waitFor(() => expect(figure("If kept for")).toBe("1has it is now"));
    expect(screen.getByRole("slider", { name: "Kept for" }).getAttribute("aria-valuetext")).toBe("1h");
    expect(screen.queryByRole("button", { name: /Change the retention/ })).toBeNull();
  });

  it("moves along the ladder by keyboard, and its place is in the address", async () => {
    const { router } = await open();
    await waitFor(() => expect(figure("If kept for")).toBe("1has it is now"));
    fireEvent.keyDown(screen.getByRole("slider", { name: "Kept for" }), { key: "ArrowRight" });
    await waitFor(() => expect(figure("If kept for")).toBe("6hnow 1h"));
    expect(router.state.location.search).toMatchObject({ keep: 21_600 });
    expect(figure("Would hold")).toBe("not knownone copy");
    expect(figure("Disk freed")).toBe("not knownall copies");
    expect(figure("Groups losing")).toBe("02 groups not known");
  });

  it("names the groups that would have lost records, and when", async () => {
    await open("&keep=1800");
    const warning = (await screen.findByText(whole("Kept for 30m, unread records would have gone"))).closest(
      ".ps-notice",
    );
    await waitFor(() => expect(warning?.textContent).toContain("readers: in 3 hours, first"));
    expect(figure("Disk freed")).toBe("4 KiBall copies");
    expect(screen.getByRole("button", { name: "Change the retention to 30m" })).toBeTruthy();
    expect(screen.queryByRole("button", { name: /for a time/ })).toBeNull();
  });

  it("keeps the rest when the groups cannot be read", async () => {
    await open("&keep=1800", {
      [`${BASE}/retention/sales/what-if/groups`]: new Refusal(500, "It cannot be served", "It failed."),
    });
    expect(await screen.findByText("Of which groups cannot be read now.")).toBeTruthy();
  });

  it("says that the groups are awaited", async () => {
    await open("&keep=1800", { [`${BASE}/retention/sales/what-if/groups`]: PENDING });
    const warning = (await screen.findByText(whole("Kept for 30m, unread records would have gone"))).closest(
      ".ps-notice",
    );
    expect(warning?.textContent).toContain("Loading…");
  });

  it.each([
    [GROUPS, "2 more: ask by REST."],
    [[], "3 groups: ask by REST."],
  ])("counts the groups that an answer has left out", async (groups, said) => {
    await open("&keep=1800", {
      [`${BASE}/retention/sales/what-if`]: told([rung(0.5, { groups_losing: 3 }), rung(1)]),
      [`${BASE}/retention/sales/what-if/groups`]: told(groups, { complete: false }),
    });
    expect(await screen.findByText(said)).toBeTruthy();
  });

  it("offers no lease of a topic that is not known now, whose dialog would open by itself later", async () => {
    await open("&keep=86400", {
      "GET /console/api/pages/topic/c1/sales": {
        parts: {
          topic: unavailable("The brokers are away."),
          retention: ok({ as_of: AT, stale_after: null, run_id: null, data: [retention()] }),
          collector: ok(collector()),
        },
      },
    });
    expect(await screen.findByRole("button", { name: "Change the retention to 1d" })).toBeTruthy();
    expect(screen.queryByRole("button", { name: /for a time/ })).toBeNull();
  });

  it("leads to a lease of the chosen time", async () => {
    await open("&keep=86400");
    expect(await screen.findByText("Disk taken")).toBeTruthy();
    expect(figure("Disk taken")).toBe("10 KiBall copies");
    press("Keep 1d for a time");
    const form = within(await screen.findByRole("dialog"));
    expect((form.getByLabelText("Keep records for, hours") as HTMLInputElement).value).toBe("24");
  });

  it("leads to a plan of the configuration", async () => {
    const { asked } = await open("&keep=86400", { "POST /api/v1/plans": plan({ kind: "topic.update" }) });
    await screen.findByText("Disk taken");
    press("Change the retention to 1d");
    await waitFor(() =>
      expect(planned(asked)).toEqual({
        kind: "topic.update",
        cluster_id: "c1",
        inputs: { name: "sales", configs: { "retention.ms": "86400000" } },
      }),
    );
  });

  it("is only looked at by viewers", async () => {
    await open("&keep=86400", { "GET /console/api/session": session({ can_write: false }) });
    await screen.findByText("Disk taken");
    expect(screen.queryByRole("button", { name: /Change the retention|for a time/ })).toBeNull();
  });

  it("asks for a time beside the ladder", async () => {
    const { asked } = await open("&also=7200&keep=7200");
    await rowsOf("What if");
    expect(asked.map((one) => one.url)).toContain(
      "/api/v1/clusters/c1/analytics/retention/sales/what-if?retention_s=7200",
    );
  });

  it.each([
    ["awaited", PENDING, () => screen.findAllByLabelText("Loading")],
    ["empty", told([]), () => screen.findByText("It needs whole hours of the topic that were sampled.")],
    ["failed", new Refusal(500, "It cannot be served", "It failed."), () => screen.findByText("It failed.")],
  ])("says that it is %s", async (_, answer, shown) => {
    await open("", { [`${BASE}/retention/sales/what-if`]: answer });
    expect(await shown()).toBeTruthy();
    expect(screen.queryByRole("slider")).toBeNull();
  });
});
