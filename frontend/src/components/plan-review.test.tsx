import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { fill, press, rowsOf } from "@/testing/app";
import { extent, operation, plan } from "@/testing/samples";
import { Refusal, serve } from "@/testing/server";
import { PlanReview } from "./plan-review";

function show(of = plan(), answer: unknown = operation()) {
  const asked = serve({ "POST /api/v1/operations": answer });
  const on = { onStarted: vi.fn(), onReplan: vi.fn(), onCancel: vi.fn() };
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <PlanReview plan={of} {...on} />
      </QueryClientProvider>
    </MantineProvider>,
  );
  return { asked, ...on };
}
const confirm = () => screen.getByRole("button", { name: "Delete topic" }) as HTMLButtonElement;

describe("confirming a plan", () => {
  it("needs exactly the phrase, and sends the plan's hash with the reason", async () => {
    const { asked, onStarted } = show();
    for (const wrong of ["", "Sales", " sales"]) {
      fill(/Type sales to confirm/, wrong);
      expect(confirm().disabled).toBe(true);
    }
    fill(/Type sales to confirm/, "sales");
    fill(/Reason/, "because");
    press("Delete topic");
    await waitFor(() => expect(onStarted).toHaveBeenCalledOnce());
    expect(asked[0]?.body).toEqual({ plan_id: "pl_1", plan_hash: "h".repeat(64), confirm: "sales", reason: "because" });
  });

  it("says why the name is asked for", () => {
    show();
    expect(screen.getByText("Because records may be lost.")).toBeTruthy();
  });

  it("asks for no name where nothing is at risk", () => {
    show(plan({ confirm_phrase: null, impact: { summary: "", warnings: [], risks: [] } } as never));
    expect(screen.queryByTestId("confirm-phrase")).toBeNull();
    expect(confirm().disabled).toBe(false);
  });

  it("says what is at risk, and that nothing has been changed yet", () => {
    show();
    expect(screen.getByRole("alert").textContent).toBe("1,000 records are lost.");
    expect(screen.getByText(/Plan pl_1, valid for .*\. Nothing has been changed yet\./)).toBeTruthy();
    expect(screen.getByRole("table", { name: "Changes" }).textContent).toContain("Partitions6");
  });

  it("says what it reaches and what of that nobody could say", async () => {
    const away = [{ reason: "broker 2 did not answer", brokers: [2] }];
    const records = extent({ value: null, at_least: 4400, limit: 4840, unknown: away });
    const impact = { summary: "Delete sales.", warnings: [], blast_radius: [records] };
    show(plan({ impact } as never));
    expect(await rowsOf("What this reaches")).toEqual([
      ["Records", "at least 4,400; the rest is unknown: broker 2 did not answer", "up to 4,840"],
    ]);
  });

  it("shows old and new values where more would be hit than was planned", async () => {
    const detail = "More would be hit than this plan says. records: 0 in the plan, 5000 now. Make a new plan.";
    const { onReplan } = show(plan({ confirm_phrase: null }), new Refusal(409, "It does not fit", detail));
    press("Delete topic");
    expect(await screen.findByText(/records: 0 in the plan, 5000 now/)).toBeTruthy();
    press("Make a new plan");
    expect(onReplan).toHaveBeenCalledOnce();
  });

  it.each([
    ["has run out", plan({ expires_at: new Date(Date.now() - 1000).toISOString() })],
    ["was used", plan({ state: "used" } as never)],
  ])("that %s needs a new plan", (_, old) => {
    const { onReplan } = show(old);
    expect(screen.queryByRole("button", { name: "Delete topic" })).toBeNull();
    press("Make a new plan");
    expect(onReplan).toHaveBeenCalledOnce();
  });

  it.each([409, 410])("that the server calls outdated (%i) needs a new plan, and says why", async (status) => {
    show(plan({ confirm_phrase: null }), new Refusal(status, "The plan is stale", "Offsets have moved."));
    press("Delete topic");
    expect(await screen.findByText("Offsets have moved.")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Make a new plan" })).toBeTruthy();
  });

  it("can be tried again where its outcome is not known", async () => {
    const { onStarted } = show(plan({ confirm_phrase: null }), new Refusal(503, "Away", "The database is busy."));
    press("Delete topic");
    expect(await screen.findByText("The database is busy.")).toBeTruthy();
    expect(confirm().disabled).toBe(false);
    expect(onStarted).not.toHaveBeenCalled();
  });

  it("can be left", () => {
    const { onCancel } = show();
    press("Cancel");
    expect(onCancel).toHaveBeenCalledOnce();
  });
});
