import { describe, expect, it } from "vitest";
import { grantLabel, grantSentence, isGrant, patternFault } from "./grant-words";
import { ANY, covers } from "./grants";
import type { Grant } from "./types";

const grant = (fields: Partial<Grant> = {}): Grant => ({
  role: "operator",
  clusters: ANY,
  over: "topic",
  names: { match: "prefix", name: "team-a-" },
  ...fields,
});

describe("patterns", () => {
  it("cover letter by letter", () => {
    const prefix = grant().names;
    expect(["team-a-x", "team-a-"].map((name) => covers(prefix, name))).toEqual([true, true]);
    expect(["team-ab", "Team-a-x", "xteam-a-x", ""].map((name) => covers(prefix, name))).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(covers({ match: "literal", name: "*" }, "sales")).toBe(false);
    expect(covers({ match: "prefix", name: "" }, "sales")).toBe(false);
    expect(covers(ANY, "sales")).toBe(true);
  });

  it("say why they are none", () => {
    expect(patternFault({ match: "prefix", name: "team-a" })).toContain("team-ab");
    expect(patternFault({ match: "literal", name: "" })).toBe("A name is missing.");
    expect(patternFault({ match: "prefix", name: "team/" })).toBe("");
    expect(isGrant(grant())).toBe(true);
    expect(isGrant(grant({ clusters: { match: "literal", name: "" } }))).toBe(false);
  });
});

describe("grants in words", () => {
  it.each([
    [
      grant({ role: "message-reader" }),
      "Reads, messages too, topics whose names begin with “team-a-”, on every cluster, those to come too.",
    ],
    [grant(), "Reads and changes topics whose names begin with “team-a-”, on every cluster, those to come too."],
    [
      grant({ role: "viewer", over: "group", names: ANY, clusters: { match: "literal", name: "main" } }),
      "Reads groups of every name, on the cluster called “main”.",
    ],
    [
      grant({ over: "cluster", names: ANY, clusters: { match: "prefix", name: "prod-" } }),
      "Reads and changes everything, on clusters whose names begin with “prod-”.",
    ],
  ])("say who may do what where", (given, words) => {
    expect(grantSentence(given)).toBe(words);
  });

  it("are short in tables", () => {
    expect(grantLabel(grant())).toBe("operator: topics team-a-… on every cluster");
  });
});
