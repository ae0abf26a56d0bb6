import { describe, expect, it } from "vitest";
import { inCell, indented, onLines, onOneLine } from "./hostile";

describe("texts of strangers", () => {
  it("shows what would be invisible or turn the text around", () => {
    expect(onOneLine("a\u202eb\u200bc\u0000\n\u001b[31m\u007f")).toBe("a⟨U+202E⟩b⟨U+200B⟩c␀␊␛[31m␡");
    expect(onLines("a\n\tb\r\u2066")).toBe("a\n\tb␍⟨U+2066⟩");
    expect(onOneLine("<b>plain & grün 🎉</b>")).toBe("<b>plain & grün 🎉</b>");
  });

  it("cuts what is long", () => {
    expect(inCell("x".repeat(1_000_000))).toHaveLength(241);
  });

  it("moves JSON apart without reading its numbers", () => {
    expect(indented('{"a":[1,12345678901234567890.10],"b":{},"c": [ ],"d":"x,{\\"}"}')).toBe(
      '{\n  "a": [\n    1,\n    12345678901234567890.10\n  ],\n  "b": {},\n  "c": [],\n  "d": "x,{\\"}"\n}',
    );
  });
});
