import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EXTENTS, STEPS } from "@/generated/sentences";
import { sentences } from "@/words/en/sentences";
import { extentTitle, stepTitle, warningText } from "./sentences";

const SERVICE = "../controlplane";
/** A call with a code, its sentence where that is written out and nothing is put into it, and whether names are added. */
const WARNING = /(naming_warning\(\s*)?(?<![.\w])warning\(\s*"([a-z-]+)",\s*((?:"(?:[^"\\]|\\.)*"\s*)+(?=[,)]))?/g;

/** Of every code of a warning in the service's source its sentence; null: it is put together, or there are several. */
function warningsOf(source: string): Map<string, string | null> {
  const found = new Map<string, string | null>();
  for (const [, naming, code, literals] of source.matchAll(WARNING)) {
    if (code === undefined) continue;
    const parts = naming ? [] : (literals?.match(/"(?:[^"\\]|\\.)*"/g) ?? []);
    const text = parts.length > 0 ? parts.map((part) => JSON.parse(part) as string).join("") : null;
    found.set(code, found.has(code) && found.get(code) !== text ? null : text);
  }
  return found;
}

describe("sentences of the service", () => {
  it("are there for everything that a plan counts, in its words", () => {
    expect(Object.keys(EXTENTS).length).toBeGreaterThan(15);
    expect(sentences.extents).toEqual(EXTENTS);
  });

  it("are there for every step of every kind, in its words", () => {
    expect(Object.keys(STEPS).length).toBeGreaterThan(100);
    expect(sentences.steps).toEqual(STEPS);
  });

  it("are there for every warning that is always the same sentence, in its words", () => {
    const source = readdirSync(SERVICE, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".py"))
      .map((file) => readFileSync(join(SERVICE, file), "utf8"))
      .join("\n");
    const found = warningsOf(source);
    expect(found.size).toBeGreaterThan(100);
    const fixed = [...found].filter(([, text]) => text !== null);
    expect(sentences.warnings).toEqual(Object.fromEntries(fixed));
  });

  it("are taken for the same only where nothing is put into them", () => {
    const source = `
      warning("fixed", "One"
        " \\"sentence\\".", "info"), warning("put", f"{count} of it"), warning("joined", "So" + more),
      warning("two", "One."), warning("two", "Another."), naming_warning(warning("named", "Readers:", "danger")),
      log.warning("not-this", "at all")`;
    expect([...warningsOf(source)]).toEqual([
      ["fixed", 'One "sentence".'],
      ["put", null],
      ["joined", null],
      ["two", null],
      ["named", null],
    ]);
  });

  it("are the service's own where the code is not known, or is none", () => {
    expect(extentTitle({ code: "of-tomorrow" as never, title: "moons" })).toBe("moons");
    expect(extentTitle({ title: "moons" })).toBe("moons");
    expect(stepTitle({ title_code: "topic.create/of-tomorrow", title: "Fly", name: "fly" })).toBe("Fly");
    expect(stepTitle({ title_code: null, title: "Fly", name: "fly" })).toBe("Fly");
    expect(stepTitle({ title_code: null, title: "", name: "wait_for_brokers" })).toBe("Wait for brokers");
  });

  it("are the catalogue's where it is", () => {
    expect(extentTitle({ code: "groups-reading", title: "moons" })).toBe("groups that read it");
    expect(warningText({ code: "no-acls", text: "Fly." })).toBe("Without an ACL the user can do nothing.");
    expect(warningText({ code: "retention-cut", text: "It falls to 3 h." })).toBe("It falls to 3 h.");
    expect(stepTitle({ title_code: "topic.delete/delete", title: "Fly", name: "fly" })).toBe("Delete the topic");
  });
});
