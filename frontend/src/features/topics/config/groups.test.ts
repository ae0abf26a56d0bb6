import { describe, expect, it } from "vitest";
import { TOPIC_SETTINGS } from "@/generated/settings";
import { grouped } from "./groups";

const named = (...names: string[]) => grouped(names.map((name) => ({ name })));

describe("groups of settings", () => {
  it("have a place for every setting that may be changed here", () => {
    expect(named(...Object.keys(TOPIC_SETTINGS)).map((group) => group.title)).not.toContain("Others");
  });

  it("are in one order, without empty ones, and lose nothing that they do not know", () => {
    expect(
      named("zz.new", "segment.ms", "retention.bytes", "cleanup.policy", "aa.new").map(({ title, entries }) => [
        title,
        ...entries.map((entry) => entry.name),
      ]),
    ).toEqual([
      ["Retention", "cleanup.policy", "retention.bytes"],
      ["Segments and flushing", "segment.ms"],
      ["Others", "aa.new", "zz.new"],
    ]);
  });
});
