import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fill, openPage, press, rowsOf } from "@/testing/app";
import { operation, plan, session, topicCounts, topicRow } from "@/testing/samples";
import { type Answers, type Asked, ok, Refusal } from "@/testing/server";

const NAMES = ["a", "b", "c"];
const nameOf = (asked: Asked) => (asked.body as { inputs: { name: string } }).inputs.name;
const open = (more: Answers = {}) =>
  openPage("/clusters/c1/topics", {
    "GET /console/api/pages/topics/c1": {
      parts: { topics: ok(NAMES.map((name) => topicRow({ name }))), counts: ok(topicCounts({ matched: 3, total: 3 })) },
    },
    "POST /api/v1/plans": (asked: Asked) => plan({ id: `pl_${nameOf(asked)}`, confirm_phrase: nameOf(asked) }),
    "POST /api/v1/operations": ({ body }: Asked) =>
      operation({ id: `op_${(body as { plan_id: string }).plan_id}`, kind: "topic.delete", state: "succeeded" }),
    ...more,
  });
const choose = async (...names: string[]) => {
  await rowsOf("Topics");
  for (const name of names) fireEvent.click(screen.getByLabelText(`Choose ${name}`));
};
const outcomes = () =>
  within(screen.getByRole("list", { name: "Topics" }))
    .getAllByRole("listitem")
    .map((row) => row.textContent);

describe("several topics", () => {
  it("are each planned, confirmed together by their number, and each has its result", async () => {
    const { asked } = await open({
      "POST /api/v1/plans": (one: Asked) =>
        nameOf(one) === "b"
          ? new Refusal(409, "Locked", "Another operation holds it.")
          : plan({ id: `pl_${nameOf(one)}`, confirm_phrase: nameOf(one) }),
    });
    await choose("a", "b", "c");
    expect(screen.getByText("3 topics chosen")).toBeTruthy();
    press("Delete");
    const field = await screen.findByLabelText('Type "delete 2" to confirm');
    expect(screen.getAllByText("1,000 records are lost.")).toHaveLength(2);
    const button = screen.getByRole("button", { name: "Delete 2" }) as HTMLButtonElement;
    fireEvent.change(field, { target: { value: "delete 3" } });
    expect(button.disabled).toBe(true);
    expect(asked.filter(({ url }) => url === "/api/v1/operations")).toEqual([]);
    fireEvent.change(field, { target: { value: "delete 2" } });
    fireEvent.click(button);
    expect(await screen.findByText("2 topics done, 1 topic not: each says why.")).toBeTruthy();
    expect(outcomes()).toEqual(["aVerified", "bAnother operation holds it.", "cVerified"]);
    const begun = asked.filter(({ url }) => url === "/api/v1/operations").map(({ body }) => body);
    expect(begun).toMatchObject([
      { plan_id: "pl_a", confirm: "a" },
      { plan_id: "pl_c", confirm: "c" },
    ]);
  });

  it("get another retention, which is asked for first", async () => {
    const { asked } = await open();
    await choose("a", "b");
    press("Change retention");
    fill("Keep records for (hours)", "2");
    press("Review plans");
    fireEvent.change(await screen.findByLabelText('Type "change 2" to confirm'), { target: { value: "change 2" } });
    press("Change 2");
    expect(await screen.findByText("All 2 topics done and verified.")).toBeTruthy();
    expect(asked.filter(({ url }) => url === "/api/v1/plans").map(({ body }) => body)).toEqual(
      ["a", "b"].map((name) => ({
        kind: "topic.update",
        cluster_id: "c1",
        inputs: { name, configs: { "retention.ms": "7200000" } },
      })),
    );
  });

  it("cannot be chosen by who may change nothing", async () => {
    await open({ "GET /console/api/session": session({ can_write: false }) });
    await rowsOf("Topics");
    expect(screen.queryByLabelText("Choose a")).toBeNull();
  });

  it("are chosen only where a grant covers them", async () => {
    const writes = [
      { clusters: { match: "any", name: "" }, over: "topic", names: { match: "literal", name: "b" } },
    ] as const;
    await open({ "GET /console/api/session": session({ writes: [...writes] }) });
    await rowsOf("Topics");
    expect(screen.getAllByLabelText(/^Choose /).map((box) => box.getAttribute("aria-label"))).toEqual(["Choose b"]);
  });

  it("are chosen no longer on another cluster, which may have topics of the same names", async () => {
    const { router } = await open({
      "GET /console/api/pages/topics/c2": {
        parts: { topics: ok([topicRow({ name: "a" })]), counts: ok(topicCounts()) },
      },
    });
    await choose("a");
    expect(screen.getByText("1 topic chosen")).toBeTruthy();
    await act(() => router.navigate({ to: "/clusters/$clusterId/topics", params: { clusterId: "c2" }, search: {} }));
    await waitFor(() => expect(screen.queryByLabelText("Choose b")).toBeNull());
    expect(((await screen.findByLabelText("Choose a")) as HTMLInputElement).checked).toBe(false);
    expect(screen.queryByText("1 topic chosen")).toBeNull();
  });

  it("are chosen no longer when that is asked for", async () => {
    await open();
    await choose("a");
    press("Choose none");
    await waitFor(() => expect(screen.queryByText("1 topic chosen")).toBeNull());
    expect((screen.getByLabelText("Choose a") as HTMLInputElement).checked).toBe(false);
  });
});
