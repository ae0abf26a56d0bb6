import { describe, expect, it } from "vitest";
import type { ConfigEntry } from "@/lib/types";
import { judged } from "./edits";

const entry = (name: string, value: string | null, is_default: boolean): ConfigEntry => ({
  name,
  value,
  is_default,
  source: is_default ? "DEFAULT_CONFIG" : "TOPIC_CONFIG",
  doc: "",
  read_only: false,
  sensitive: false,
});

const DEFAULTS = [
  entry("retention.ms", "604800000", true),
  entry("cleanup.policy", "delete", true),
  entry("min.cleanable.dirty.ratio", "0.5", true),
  entry("preallocate", "false", true),
  entry("leader.replication.throttled.replicas", null, true),
];
const SET = DEFAULTS.map((each) => ({ ...each, is_default: false }));
const changes = (edits: Record<string, string | null>, entries = DEFAULTS) => judged(edits, entries, {}).changes;

describe("what is typed into a topic's configuration", () => {
  it.each(DEFAULTS)("is no change of $name, wherever it comes from, while it is only opened", ({ name, value }) => {
    expect(changes({ [name]: value ?? "" })).toEqual({});
    expect(changes({ [name]: value ?? "" }, SET)).toEqual({});
  });

  it("is no change when the same is written in another way", () => {
    expect(changes({ "retention.ms": "7 days", "min.cleanable.dirty.ratio": "0.50" })).toEqual({});
    const both = [entry("cleanup.policy", "delete,compact", false)];
    expect(changes({ "cleanup.policy": "compact,delete" }, both)).toEqual({});
  });

  it("is a change when it is another value, or takes away what the topic sets itself", () => {
    expect(changes({ "retention.ms": "8 days", "cleanup.policy": "compact,delete", preallocate: "true" })).toEqual({
      "retention.ms": "691200000",
      "cleanup.policy": "compact,delete",
      preallocate: "true",
    });
    expect(changes({ "retention.ms": null }, SET)).toEqual({ "retention.ms": null });
    expect(changes({ "retention.ms": null })).toEqual({});
  });
});
