/** Every page's link in the menu, and every page's title: on each page exactly one place is marked, and the window says which page it is. */
import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { heading, openPage } from "@/testing/app";
import { cluster, session } from "@/testing/samples";
import { ok, PENDING } from "@/testing/server";

const staff = session({ user: { username: "ada", email: "", is_staff: true } });
/** Every page of the frame; what is on it does not matter here, so nothing of it is answered. */
const PAGES: [path: string, marked: string | null][] = [
  ["/", "Overview"],
  ["/clusters/new", "Overview"],
  ["/clusters/register", "Overview"],
  ["/clusters/c1", "Brokers"],
  ["/clusters/c1/credentials", "Brokers"],
  ["/clusters/c1/brokers/1", "Brokers"],
  ["/clusters/c1/events", "Events"],
  ["/clusters/c1/topics", "Topics"],
  ["/clusters/c1/new-topic", "Topics"],
  ["/clusters/c1/topics/sales", "Topics"],
  ["/clusters/c1/topics/sales/messages", "Topics"],
  ["/clusters/c1/groups", "Consumer groups"],
  ["/clusters/c1/groups/readers", "Consumer groups"],
  ["/clusters/c1/groups/readers/reset", "Consumer groups"],
  ["/clusters/c1/access", "Access"],
  ["/clusters/c1/reassign", "Reassign partitions"],
  ["/clusters/c1/drift", "Changed outside"],
  ["/clusters/c1/analytics", "Lag and retention"],
  ["/clusters/c1/usage", "Usage and forecasts"],
  ["/alerts", "Alerts"],
  ["/alerts/al_1", "Alerts"],
  ["/runbooks", "Runbooks"],
  ["/runbooks/rb", "Runbooks"],
  ["/destinations", "Destinations"],
  ["/objectives", "Lag objectives"],
  ["/usage", "Usage and cost"],
  ["/operations", "Operations"],
  ["/operations/op_1", "Operations"],
  ["/audit", "Audit"],
  ["/settings", "Settings"],
  ["/platform", "Platform"],
  ["/profile", null],
];

const pending = {
  "GET /console/api/pages/overview": {
    parts: { clusters: ok([cluster()]), attention: ok([]), operations: ok([]), hosts: ok([]) },
  },
  "GET /console/api/session": staff,
  ...Object.fromEntries(
    [
      "cluster/c1",
      "broker/c1/1",
      "topics/c1",
      "topic/c1/sales",
      "groups/c1",
      "group/c1/readers",
      "access/c1",
      "reassign/c1",
      "drift/c1",
      "analytics/c1",
      "operation/op_1",
      "operations",
    ].map((page) => [`GET /console/api/pages/${page}`, PENDING]),
  ),
};

describe("each page", () => {
  it.each(PAGES)("%s is marked once in the menu, and titled as it is headed", async (path, marked) => {
    await openPage(path, pending);
    const menu = screen.getByRole("navigation", { name: "Main" });
    await waitFor(() => {
      const here = within(menu)
        .getAllByRole("link")
        .filter((link) => link.getAttribute("data-status") === "active");
      expect(here.map((link) => link.textContent.trim())).toEqual(marked === null ? [] : [marked]);
      expect(here.every((link) => link.getAttribute("aria-current") === "page")).toBe(true);
    });
    await waitFor(() => expect(document.title.split(" · ")[0]).toBe(heading()));
    expect(document.title).toMatch(/Penstock$/);
  });

  it("of a cluster names it in the title, and an address that is none says so", async () => {
    await openPage("/clusters/c1/topics", pending);
    await waitFor(() => expect(document.title).toBe("Topics · orders · Penstock"));
    document.body.replaceChildren();
    await openPage("/nowhere", pending);
    await waitFor(() => expect(document.title.split(" · ")[0]).toBe(heading()));
  });
});
