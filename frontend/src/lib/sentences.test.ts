import { describe, expect, it } from "vitest";
import { EXTENTS, PHRASES, STEPS, SUMMARIES, WARNINGS } from "@/generated/sentences";
import { sentences } from "@/words/en/sentences";
import { summaries } from "@/words/en/summaries";
import { warnings } from "@/words/en/warnings";
import { extentTitle, stepTitle, summaryText, warningText } from "./sentences";

describe("sentences of the service", () => {
  it("are there for everything that a plan counts, in its words", () => {
    expect(Object.keys(EXTENTS).length).toBeGreaterThan(15);
    expect(sentences.extents).toEqual(EXTENTS);
  });

  it("are there for every step of every kind, in its words", () => {
    expect(Object.keys(STEPS).length).toBeGreaterThan(100);
    expect(sentences.steps).toEqual(STEPS);
  });

  it("are there for every warning of plans, with the same parameters, in its words", () => {
    expect(Object.keys(WARNINGS).length).toBeGreaterThan(150);
    expect(warnings.sentences).toEqual(WARNINGS);
  });

  it("are there for everything that plans and operations do, with the same parameters, in its words", () => {
    expect(Object.keys(SUMMARIES).length).toBeGreaterThan(50);
    expect(summaries).toEqual(SUMMARIES);
  });

  it("are there for every code that a parameter may hold, in its words", () => {
    expect(Object.keys(PHRASES)).toEqual(["quotas", "restores", "final"]);
    expect(warnings.phrases).toEqual(PHRASES);
  });

  it("are the service's own where the code is not known, or is none", () => {
    expect(extentTitle({ code: "of-tomorrow" as never, title: "moons" })).toBe("moons");
    expect(extentTitle({ title: "moons" })).toBe("moons");
    expect(stepTitle({ title_code: "topic.create/of-tomorrow", title: "Fly", name: "fly" })).toBe("Fly");
    expect(stepTitle({ title_code: null, title: "Fly", name: "fly" })).toBe("Fly");
    expect(stepTitle({ title_code: null, title: "", name: "wait_for_brokers" })).toBe("Wait for brokers");
    expect(warningText({ text_code: "of-tomorrow", params: {}, text: "Fly." })).toBe("Fly.");
    expect(warningText({ text: "Fly." })).toBe("Fly.");
    expect(summaryText({ summary: "Fly.", summary_code: "moon.fly", summary_params: {} })).toBe("Fly.");
    expect(summaryText({ summary: "Fly.", summary_code: "topic.delete", summary_params: {} })).toBe("Fly.");
    expect(summaryText({ summary: "Fly.", summary_code: null, summary_params: {} })).toBe("Fly.");
    expect(summaryText({ summary: "Fly." })).toBe("Fly.");
    expect(warningText({ text_code: "opens-access", params: { rules: "x" }, text: "Fly." })).toBe("Fly.");
    expect(warningText({ text_code: "no-undo", params: { final: "moon.fly" }, text: "Fly." })).toBe("Fly.");
  });

  it("are the catalogue's where it is", () => {
    expect(extentTitle({ code: "groups-reading", title: "moons" })).toBe("groups that read it");
    expect(warningText({ text_code: "no-acls", params: {}, text: "Fly." })).toBe(
      "Without an ACL the user can do nothing.",
    );
    expect(
      warningText({ text_code: "unknown", params: { reason: "moon", extents: "bytes, acls-covering" }, text: "" }),
    ).toBe("Unknown: moon. That leaves uncertain: bytes, ACLs that cover it.");
    expect(warningText({ text_code: "no-undo", params: { final: "topic.empty" }, text: "" })).toBe(
      `This cannot be undone: ${warnings.phrases.final["topic.empty"]}.`,
    );
    expect(
      summaryText({
        summary: "Fly.",
        summary_code: "reassignment",
        summary_params: { partitions: 1, size_are: "exact", size_bytes: null },
      }),
    ).toBe("Move 1 partition, an unknown number of bytes.");
    expect(stepTitle({ title_code: "topic.delete/delete", title: "Fly", name: "fly" })).toBe("Delete the topic");
  });
});
