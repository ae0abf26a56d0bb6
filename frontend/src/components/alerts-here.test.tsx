import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { openPage } from "@/testing/app";
import { listed } from "@/testing/samples";
import { group, lagPoint } from "@/testing/samples-groups";
import { alert } from "@/testing/samples-alerts";
import { ok, Refusal, unavailable } from "@/testing/server";

const open = (alerts: unknown) =>
  openPage("/clusters/c1/groups/readers", {
    "GET /console/api/pages/group/c1/readers": {
      parts: {
        group: ok(group()),
        lag: ok({ as_of: null, run_id: null, complete: false, data: [lagPoint()] }),
        retention: unavailable("later"),
        collector: unavailable("later"),
      },
    },
    "GET /api/v1/alerts": alerts,
  });

it("lists the alerts of this group alone, and leads to each", async () => {
  await open(listed([alert(), alert({ id: "al_9", subject: "group/others", values: {}, summary: "orders: others." })]));
  const list = await screen.findByRole("list", { name: "Open alerts" });
  expect(list.textContent).toContain("group readers loses unread records of sales");
  expect(list.textContent).not.toContain("orders: others.");
  expect(list.querySelector("a")?.getAttribute("href")).toBe("/alerts/al_1");
});

it("does not say that all is well when it cannot be read", async () => {
  await open(new Refusal(503, "later"));
  expect(await screen.findByText(/Whether alerts fire here could not be read/)).toBeTruthy();
});
