import { describe, expect, it } from "vitest";
import { REBALANCE } from "@/generated/sentences";
import { rebalanceSaid } from "@/words/en/rebalance-said";
import { reasonText, verdictText } from "./rebalance-said";

const part = (code: string, params: Record<string, string | number | null>, text = "Fly.") => ({ code, params, text });
const verdict = (...parts: ReturnType<typeof part>[]) =>
  verdictText({ code: "x", text: "As before.", at: "2026-11-21T10:00:00Z", parts });

describe("what scheduled rebalances say", () => {
  it("is there for every sentence of the service, with the same parameters, in its words", () => {
    expect(Object.keys(REBALANCE).length).toBeGreaterThan(15);
    expect(rebalanceSaid).toEqual(REBALANCE);
  });

  it("is the catalogue's, one sentence after the other", () => {
    const reason_parts = [
      part("far/bytes", { broker: "1001", held_gib: 16.5, percent: 60, mean_gib: 10 }),
      part("out-of-balance", { limit_percent: 20 }),
    ];
    expect(reasonText({ reason: "Fly.", reason_parts })).toBe(
      "Broker 1001 holds 16.5 GiB, 60 % from the mean of 10 GiB. Above 20 % the cluster is rebalanced.",
    );
    expect(verdict(part("rests/failed", { left_ms: 68_460_000 }))).toBe(
      "The last one failed a short time ago; another look is taken in 19 hours 1 minute.",
    );
  });

  it("calls a kind of operation by its name", () => {
    expect(verdict(part("under-way", { kind: "cluster.add_brokers" }))).toBe(
      "Add brokers is under way; one thing at a time.",
    );
  });

  it("is the service's own where there are no parts, or their codes or parameters are not known", () => {
    expect(verdict()).toBe("As before.");
    expect(reasonText({ reason: "As before.", reason_parts: [] })).toBe("As before.");
    expect(verdict(part("of-tomorrow", {}, "Later."), part("moving", {}, "Other."))).toBe("Later. Other.");
  });
});
