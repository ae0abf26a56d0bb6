import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { names } from "@/words/en/names";
import { alertTitles, ruleTitle, runbookTitle } from "./rule-names";

const RUNBOOKS = "../deploy/runbooks";

describe("titles of rules and runbooks", () => {
  it("are there for every rule that the service has, in its words", () => {
    const source = ["rules", "host_rules"]
      .map((name) => readFileSync(`../controlplane/alerts/${name}.py`, "utf-8"))
      .join("\n");
    const found = [...source.matchAll(/ id="([a-z-]+)",\s+title="([^"]+)"/g)].map(([, id, title]) => [id, title]);
    expect(found.length).toBeGreaterThan(20);
    expect(names.rules).toEqual(Object.fromEntries(found));
  });

  it("are there for every runbook that exists, in its words", () => {
    const found = readdirSync(RUNBOOKS)
      .map((file) => readFileSync(`${RUNBOOKS}/${file}`, "utf-8"))
      .filter((text) => text.startsWith("---"))
      .map((text) => [/^id: (.+)$/m.exec(text)?.[1], /^# (.+)$/m.exec(text)?.[1]]);
    expect(found.length).toBeGreaterThan(20);
    expect(names.runbooks).toEqual(Object.fromEntries(found));
  });

  it("leave what is not known as it is called", () => {
    expect(ruleTitle("of-tomorrow")).toBe("of-tomorrow");
    expect(runbookTitle("of-tomorrow")).toBe("of-tomorrow");
    expect(alertTitles(["broker-down", "PenstockBrokerPageAway"])).toBe(
      "Broker is not in the cluster, PenstockBrokerPageAway",
    );
  });
});
