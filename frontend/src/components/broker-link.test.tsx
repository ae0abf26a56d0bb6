/** Whatever names a broker leads to its page. */
import { screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage } from "@/testing/app";
import { attention, cluster, partition, timelineEvent, topic } from "@/testing/samples";
import { group, groupCounts, groupRow } from "@/testing/samples-groups";
import { ok, unavailable } from "@/testing/server";

const gold = ok({ as_of: null, run_id: null, data: [] });
const page = (id: number) => `/clusters/c1/brokers/${id}`;
const hrefOf = (element: HTMLElement) => element.getAttribute("href");

describe("a broker leads to its page", () => {
  it("from where it leads and holds a partition", async () => {
    await openPage("/clusters/c1/topics/sales", {
      "GET /console/api/pages/topic/c1/sales": {
        parts: {
          topic: ok(topic({ partitions: [partition({ leader: 3, replicas: [3, 1], isr: [3] })] })),
          retention: gold,
        },
      },
    });
    const table = within(await screen.findByRole("table", { name: "Partitions" }));
    expect(hrefOf(table.getByRole("link", { name: "broker 3" }))).toBe(page(3));
    expect(hrefOf(table.getByRole("link", { name: /^3\s*\(leader\)$/ }))).toBe(page(3));
    expect(hrefOf(table.getByRole("link", { name: /^1\s*\(not in sync\)$/ }))).toBe(page(1));
  });

  it("from attention, the controller, what happened and what moves", async () => {
    const moving = {
      topic: "sales",
      partition: 0,
      replicas: [1, 2],
      adding: [2],
      removing: [3],
      bytes_moved: 1,
      bytes_to_move: 2,
    };
    await openPage("/clusters/c1", {
      "GET /console/api/pages/cluster/c1": {
        parts: {
          cluster: ok(cluster()),
          summary: unavailable("Later."),
          loads: ok([]),
          reassignments: ok({ total: 1, rows: [moving], unknown: [] }),
          attention: ok([attention({ broker: 2, group: null, topic: null })]),
          events: ok([timelineEvent()]),
          operations: ok([]),
          client_config: unavailable("Later."),
        },
      },
    });
    expect(hrefOf(await screen.findByRole("link", { name: "Open broker" }))).toBe(page(2));
    expect(
      hrefOf(within(screen.getByRole("list", { name: "Needs attention" })).getByRole("link", { name: "Broker 2" })),
    ).toBe(page(2));
    expect(hrefOf(screen.getByRole("link", { name: "broker 1" }))).toBe(page(1));
    const moves = within(screen.getByRole("table", { name: "Partitions on the move" }));
    expect(hrefOf(moves.getByRole("link", { name: "Broker 3" }))).toBe(page(3));
  });

  it("from the coordinator of a group", async () => {
    await openPage("/clusters/c1/groups", {
      "GET /console/api/pages/groups/c1": {
        parts: { groups: ok([groupRow({ coordinator: 2 })]), counts: ok(groupCounts()), lag: gold },
      },
    });
    expect(hrefOf(await screen.findByRole("link", { name: "broker 2" }))).toBe(page(2));
    document.body.replaceChildren();
    await openPage("/clusters/c1/groups/readers", {
      "GET /console/api/pages/group/c1/readers": {
        parts: { group: ok(group({ coordinator: 1 })), lag: gold, retention: gold, collector: unavailable("Later.") },
      },
    });
    expect(hrefOf(await screen.findByRole("link", { name: "broker 1" }))).toBe(page(1));
  });
});
