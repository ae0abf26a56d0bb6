import { describe, expect, it } from "vitest";
import { keysIn, parseProperties } from "./properties";

describe("properties", () => {
  it("are key=value lines; blank lines and comments are none, and a value may hold what it likes", () => {
    expect(
      parseProperties("\n# a comment\n retention.ms = 1000 \ncleanup.policy=compact,delete\nx=a=b\nempty="),
    ).toEqual({
      "retention.ms": "1000",
      "cleanup.policy": "compact,delete",
      x: "a=b",
      empty: "",
    });
    expect(parseProperties("")).toEqual({});
  });

  it("name their keys while they are being typed, each once", () => {
    expect(keysIn("")).toEqual([]);
    expect(keysIn("# c=1\n a.b = \nretention\nx=1=2\na.b=2\na key=1\n=3")).toEqual(["a.b", "x"]);
  });

  it.each([
    ["a=1\nnonsense", "Line 2 is not key=value"],
    ["=1", "Line 1 is not key=value"],
    ["a key=1", "Line 1 is not key=value"],
    ["a=1\n\na=2", "Line 3 gives a a second time"],
  ])("%j is refused by its line", (text, message) => {
    expect(() => parseProperties(text)).toThrow(message);
  });
});
