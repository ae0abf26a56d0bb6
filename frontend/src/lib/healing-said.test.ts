import { describe, expect, it } from "vitest";
import { HEALING } from "@/generated/sentences";
import { healingSaid } from "@/words/en/healing-said";
import { healingText } from "./healing-said";

const part = (code: string, params: Record<string, string | number | null>, text = "Fly.") => ({ code, params, text });

describe("what self-healing says", () => {
  it("is there for every sentence of the service, with the same parameters, in its words", () => {
    expect(Object.keys(HEALING).length).toBeGreaterThan(20);
    expect(healingSaid).toEqual(HEALING);
  });

  it("is the catalogue's, one sentence after the other", () => {
    const parts = [
      part("why/silent", { broker: "1001", silent_ms: 5_400_000 }),
      part("several-silent", { hosts: 3 }),
      part("refused", { said: "alone-0 has no other replica." }),
    ];
    expect(healingText({ text: "Fly.", parts })).toBe(
      "The host of broker 1001 is silent for 1 hour 30 minutes. 3 hosts fell silent at about the same time or since: that may be a cut of the network, so nothing is done by itself. It is refused: alone-0 has no other replica.",
    );
  });

  it("calls a kind of operation by its name", () => {
    const said = (kind: string) => healingText({ text: "Fly.", parts: [part("under-way", { kind })] });
    expect(said("cluster.add_brokers")).toBe("Add brokers is under way; one thing at a time.");
    expect(said("cluster.of_tomorrow")).toBe("Fly.");
  });

  it("is the service's own where there are no parts, or their codes or parameters are not known", () => {
    expect(healingText({ text: "As before.", parts: [] })).toBe("As before.");
    const parts = [part("of-tomorrow", {}, "Later."), part("replace", {}, "Other."), part("well", {})];
    expect(healingText({ text: "Fly.", parts })).toBe("Later. Other. Every host of the cluster is there.");
  });
});
