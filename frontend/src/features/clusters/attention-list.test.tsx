import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, press } from "@/testing/app";
import { attention, cluster, operation, plan } from "@/testing/samples";
import { type Answers, ok } from "@/testing/server";

const open = (items: object[], more: Answers = {}) =>
  openPage("/", {
    "GET /console/api/pages/overview": {
      parts: { clusters: ok([cluster()]), attention: ok(items), operations: ok([operation()]) },
    },
    ...more,
  });
const rows = async () => within(await screen.findByRole("list", { name: "Needs attention" })).getAllByRole("listitem");
const hrefs = (row: HTMLElement | undefined) =>
  within(row as HTMLElement)
    .getAllByRole("link")
    .map((link) => link.getAttribute("href"));

const LEASE = {
  title: "Keep the topic's records longer for a set time",
  kind: "topic.retention_lease",
  cluster_id: "c1",
  inputs: { name: "sales", retention_ms: 1_209_600_000, for_s: 259_200 },
} as const;

describe("what needs attention", () => {
  it("leads to the alert, to what it is about, and to its runbook filled in", async () => {
    await open([attention()]);
    const [row] = await rows();
    expect(row?.textContent).toMatch(/^Critical/);
    expect(hrefs(row)).toEqual([
      "/alerts/al_1",
      "/clusters/c1/groups/readers",
      "/runbooks/group-losing-data?alert=al_1",
    ]);
    expect(row?.textContent).toContain("since");
  });

  it("says what has only just been seen, with the runbook about its cluster", async () => {
    await open([
      attention({
        key: "c1/offline",
        alert_id: null,
        state: "seen",
        rule: "partitions-offline",
        group: null,
        topic: null,
        runbook: "partitions-unavailable",
        since: null,
        as_of: "2026-11-21T10:00:00Z",
      }),
    ]);
    const [row] = await rows();
    expect(row?.textContent).toContain("just seen");
    expect(hrefs(row)).toEqual(["/clusters/c1", "/runbooks/partitions-unavailable?cluster=c1"]);
  });

  it("leads to the operation, the topic, or nowhere when it is of the tenant", async () => {
    await open([
      attention({ key: "1", operation_id: "op_1" }),
      attention({ key: "2", group: null, topic: "sales" }),
      attention({ key: "3", group: null, topic: null, cluster_id: null, cluster_name: null, runbook: null }),
    ]);
    const found = await rows();
    expect(hrefs(found[0])[1]).toBe("/operations/op_1");
    expect(hrefs(found[1])[1]).toBe("/clusters/c1/topics/sales");
    expect(hrefs(found[2])).toEqual(["/alerts/al_1"]);
  });

  it("plans the next step, and does nothing before it is confirmed", async () => {
    const { asked } = await open([attention({ next: LEASE })], { "POST /api/v1/plans": plan() });
    await rows();
    press(`Plan: ${LEASE.title}`);
    expect(await screen.findByRole("dialog")).toBeTruthy();
    await waitFor(() => expect(asked.some((one) => one.method === "POST")).toBe(true));
    const { kind, cluster_id, inputs } = LEASE;
    expect(asked.filter((one) => one.method === "POST").map((one) => [one.url, one.body])).toEqual([
      ["/api/v1/plans", { kind, cluster_id, inputs }],
    ]);
  });

  it("offers no plan where the server offers none", async () => {
    await open([attention({ next: null })]);
    const [row] = await rows();
    expect(within(row as HTMLElement).queryByRole("button")).toBeNull();
  });

  it("shows the most harmful, and the rest when asked", async () => {
    await open(Array.from({ length: 11 }, (_, at) => attention({ key: String(at) })));
    expect((await rows()).length).toBe(8);
    fireEvent.click(screen.getByRole("button", { name: "Show 3 more" }));
    expect((await rows()).length).toBe(11);
  });

  it("shows hostile text as text", async () => {
    await open([attention({ text: "<script>alert(1)</script>", group: "<b>g</b>" })]);
    const [row] = await rows();
    expect(row?.textContent).toContain("<script>alert(1)</script>");
    expect(row?.textContent).toContain("<b>g</b>");
  });
});
