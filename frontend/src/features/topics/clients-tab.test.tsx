import { cleanup, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, rowsOf } from "@/testing/app";
import { describePageStates } from "@/testing/page-states";
import { AT, topic } from "@/testing/samples";
import { ok, unavailable } from "@/testing/server";

const TOPIC = {
  "GET /console/api/pages/topic/c1/sales": { parts: { topic: ok(topic()), retention: unavailable("x") } },
  "GET /console/api/pages/producers/c1/sales": { parts: { producers: unavailable("not in this test") } },
};
const PATH = "/clusters/c1/topics/sales?tab=clients";
const reader = (fields: object = {}) => ({
  group: "readers",
  state: "Stable",
  members: 2,
  lag: 1200,
  committed: 6,
  uncommitted: 0,
  as_of: AT,
  stale_reason: null,
  ...fields,
});
const rule = {
  principal: "User:app",
  host: "*",
  operation: "READ",
  permission: "ALLOW",
  resource_type: "TOPIC",
  resource_name: "sales",
  pattern_type: "LITERAL",
  as_of: AT,
  stale_reason: null,
};
const parts = (groups: object[] = [reader()], rules: { data: unknown } = ok([rule]), complete = true) => ({
  readers: ok({ groups, complete }),
  rules,
});
const open = (given: object = parts()) =>
  openPage(PATH, { ...TOPIC, "GET /console/api/pages/clients/c1/sales": { parts: given } });

describePageStates({
  path: PATH,
  page: "clients/c1/sales",
  title: "sales",
  parts: parts(),
  part: "readers",
  shows: "Lag on this topic, records",
  refusable: false,
  more: TOPIC,
});

describe("who uses a topic", () => {
  it("names the groups that read it, and says what is not known and not committed", async () => {
    await open(
      parts([
        reader(),
        reader({ group: "new", members: 1, lag: null, committed: 0, uncommitted: 2 }),
        reader({ group: "dark", lag: null, committed: 3 }),
      ]),
    );
    expect(await rowsOf("Consumers")).toEqual([
      ["readers", "Stable", "2", "1,200", "6 partitions"],
      ["new", "Stable", "1", "no commit", "0 partitions, 2 more without a commit"],
      ["dark", "Stable", "2", "not known", "3 partitions"],
    ]);
  });

  it("says whom the rules let, and why", async () => {
    await open(parts([], ok([rule, { ...rule, principal: "User:w", operation: "WRITE", permission: "DENY" }])));
    expect(await rowsOf("Who may produce and consume")).toEqual([
      ["User:app", "no rule", "yes", "User:app may read topic “sales”"],
      ["User:w", "denied", "no rule", "User:w may not write topic “sales”"],
    ]);
    expect(screen.getByText("No group reads this topic")).toBeTruthy();
  });

  it("says that no rule is about it, that not all was looked at, and why rules are not shown", async () => {
    await open(parts([reader()], ok([]), false));
    expect(await screen.findByText("No rule is about this topic")).toBeTruthy();
    expect(screen.getByText(/Not every group of the cluster was looked at/)).toBeTruthy();
    cleanup();
    await open(parts([reader()], unavailable("Access rules are seen with a role on the whole cluster.")));
    expect(await screen.findByText(/Access rules are seen with a role on the whole cluster\./)).toBeTruthy();
  });
});
