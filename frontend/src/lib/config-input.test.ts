import { describe, expect, it } from "vitest";
import { TOPIC_SETTINGS } from "@/generated/settings";
import { typedValue } from "./config-input";

const typed = (name: string, text: string) => {
  const setting = TOPIC_SETTINGS[name];
  if (!setting) throw new Error(`there is no setting ${name}`);
  return typedValue(name, text, setting);
};

describe("what is typed for a setting", () => {
  it.each([
    ["retention.ms", "7 days", "604800000"],
    ["retention.ms", "7d", "604800000"],
    ["retention.ms", " 1 hour and 30 minutes ", "5400000"],
    ["retention.ms", "1h, 30m", "5400000"],
    ["retention.ms", "1.5 h", "5400000"],
    ["retention.ms", "250 ms", "250"],
    ["retention.ms", "604800000", "604800000"],
    ["retention.ms", "for ever", "-1"],
    ["retention.ms", "-1", "-1"],
    ["flush.ms", "no limit", "9223372036854775807"],
    ["flush.ms", "9223372036854775807", "9223372036854775807"],
    ["segment.bytes", "1 GiB", "1073741824"],
    ["segment.bytes", "1.5MiB", "1572864"],
    ["segment.bytes", "10 MB", "10000000"],
    ["retention.bytes", "none", "-1"],
    ["min.insync.replicas", "2", "2"],
    ["compression.type", "zstd", "zstd"],
    ["cleanup.policy", "compact, delete", "compact,delete"],
    ["preallocate", "TRUE", "true"],
    ["min.cleanable.dirty.ratio", "0.25", "0.25"],
  ])("%s: %s is %s", (name, text, value) => {
    expect(typed(name, text)).toEqual({ value });
  });

  it.each([
    ["retention.ms", "soon", "Type for example 7 days, 90 minutes or 604800000."],
    ["retention.ms", "7 moons", "moons is not a unit here: type for example 7 days, 90 minutes or 604800000."],
    ["retention.ms", "7 days please", "Type for example 7 days, 90 minutes or 604800000."],
    ["retention.ms", "", "Type a value, or put it back to the default."],
    ["retention.ms", "-2", "It has to be at least -1 and at most 9223372036854775807 ms."],
    ["retention.ms", "9223372036854775808", "It has to be at least -1 and at most 9223372036854775807 ms."],
    ["retention.ms", "0.3 ms", "That is not a whole number of ms."],
    ["retention.ms", "999999999999 days", "That is too large: type it in ms."],
    ["segment.bytes", "3 GiB", "It has to be at least 14 and at most 2147483647 bytes."],
    ["segment.bytes", "1 hour", "hour is not a unit here: type for example 1 GiB, 512 MiB or 1073741824."],
    ["min.insync.replicas", "0", "It has to be at least 1 and at most 2147483647."],
    ["min.insync.replicas", "two", "Type a whole number."],
    ["min.insync.replicas", "1.5", "Type a whole number."],
    ["compression.type", "lzma", "lzma is not one of uncompressed, zstd, lz4, snappy, gzip, producer."],
    ["cleanup.policy", "", "Choose at least one."],
    ["cleanup.policy", "compact,shred", "shred is not one of compact, delete."],
    ["preallocate", "yes", "Choose true or false."],
    ["min.cleanable.dirty.ratio", "2", "Type a number, at least 0 and at most 1."],
    ["min.cleanable.dirty.ratio", "", "Type a number, at least 0 and at most 1."],
  ])("%s: %j is refused in one sentence", (name, text, problem) => {
    expect(typed(name, text)).toEqual({ problem });
  });
});
