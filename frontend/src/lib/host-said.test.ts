import { describe, expect, it } from "vitest";
import { HOSTS } from "@/generated/sentences";
import { hostMove } from "@/testing/samples-administration";
import { hostSaid } from "@/words/en/host-said";
import { hostSummary, moveText, refusalText, takesNoneText, waitingText } from "./host-said";

const part = (code: string, params: Record<string, string | number | null>, text: string) => ({ code, params, text });

describe("what is said of hosts", () => {
  it("is there for every sentence of the service, with the same parameters, in its words", () => {
    expect(Object.values(HOSTS).map((group) => Object.keys(group).length)).not.toContain(0);
    expect(hostSaid).toEqual(HOSTS);
  });

  it("is the catalogue's", () => {
    const said = { summary: "Fly.", summary_code: "drain", summary_params: { host: "host-1", brokers: 1 } };
    expect(hostSummary(said)).toBe("host-1 gets no new brokers, and its 1 broker is to leave it.");
    const state = { state: "lost", after: "active" };
    expect(refusalText({ text: "Fly.", text_code: "host-state/no-way", params: state })).toBe(
      "A host that is lost cannot be active.",
    );
    const stale = { takes_none_because_code: "stale", takes_none_because_params: { age_s: 90 } };
    expect(takesNoneText({ takes_none_because: "Fly.", ...stale })).toBe(
      "Its last report of capacity is 1 minute 30 seconds old.",
    );
  });

  it("calls a kind of operation by its name", () => {
    const params = { cluster: "orders", kind: "cluster.add_brokers" };
    expect(refusalText({ text: "Fly.", text_code: "operation-under-way", params })).toBe(
      "On orders an operation is under way (Add brokers): it has to end first, or be cancelled.",
    );
    const other = { ...params, kind: "cluster.of_tomorrow" };
    expect(refusalText({ text: "Fly.", text_code: "operation-under-way", params: other })).toBe("Fly.");
  });

  it("says why a broker would go where it would go, and why nowhere", () => {
    expect(moveText(hostMove())).toBe(
      "rack b has 1 broker of the cluster; the host 0 of them and 2 brokers in all; 12.5 GiB of disk free; load not known",
    );
    const why_nowhere_parts = [
      part("lead/host", { host: "host-2" }, "host-2:"),
      part("cordoned", {}, "It is cordoned."),
      part("of-tomorrow", {}, "Fly."),
    ];
    expect(moveText(hostMove({ target_host_id: null, why_nowhere_parts }))).toBe("host-2: It is cordoned. Fly.");
  });

  it("says what the next broker or cluster waits for", () => {
    const waiting_for_parts = [
      part("lead/about", { about: "orders/2" }, "orders/2:"),
      part("host-of-broker/away", { broker: 2 }, "Fly."),
    ];
    expect(waitingText({ waiting_for: "Fly.", waiting_for_parts })).toBe("orders/2: The host of broker 2 is away.");
    expect(waitingText({ waiting_for: "As before.", waiting_for_parts: [] })).toBe("As before.");
    expect(waitingText({ waiting_for: null, waiting_for_parts: [] })).toBeNull();
  });

  it("is the service's own where its code is not known, or there is nothing to say", () => {
    expect(refusalText({ text: "Fly.", text_code: "of-tomorrow", params: {} })).toBe("Fly.");
    expect(refusalText({ text: "Fly.", text_code: "host-in-use", params: {} })).toBe("Fly.");
    const taking = { takes_none_because: null, takes_none_because_code: null, takes_none_because_params: {} };
    expect(takesNoneText(taking)).toBeNull();
  });
});
