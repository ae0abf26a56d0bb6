import { describe, expect, it } from "vitest";
import { anchorOf, blocksOf, inlinesOf, isWebAddress, runbookLink } from "./markdown";

describe("blocks", () => {
  it("are paragraphs, lists with items over several lines, code and tables", () => {
    const text = [
      "One line",
      "and its second.",
      "",
      "- first",
      "  goes on",
      "- second",
      "1. step",
      "",
      "```",
      "<b>- no list</b>",
      "```",
      "| a | b |",
      "|---|---|",
      "| 1 | `x` |",
      "after",
    ].join("\n");
    expect(blocksOf(text)).toEqual([
      { kind: "paragraph", text: "One line and its second." },
      { kind: "list", ordered: false, items: ["first goes on", "second", "step"] },
      { kind: "code", text: "<b>- no list</b>" },
      { kind: "table", head: ["a", "b"], rows: [["1", "`x`"]] },
      { kind: "paragraph", text: "after" },
    ]);
  });

  it("end with the text, also where a fence is left open", () => {
    expect(blocksOf("```\nopen")).toEqual([{ kind: "code", text: "open" }]);
    expect(blocksOf("| no table |")).toEqual([{ kind: "paragraph", text: "| no table |" }]);
  });
});

it("finds code, emphasis and links in a line, and keeps the rest as it stands", () => {
  expect(inlinesOf("see **this** `a[0](b)` <i>x</i> [there](disk-full.md#filling).")).toEqual([
    { kind: "text", text: "see " },
    { kind: "strong", text: "this" },
    { kind: "text", text: " " },
    { kind: "code", text: "a[0](b)" },
    { kind: "text", text: " <i>x</i> " },
    { kind: "link", text: "there", href: "disk-full.md#filling" },
    { kind: "text", text: "." },
  ]);
});

it.each([
  ["disk-full.md#filling", { id: "disk-full", section: "filling" }],
  ["disk-full.md", { id: "disk-full", section: undefined }],
  ["../README.md", null],
  ["javascript:alert(1)//x.md", null],
  ["//evil.example/x.md", null],
])("%s leads to a runbook or elsewhere", (href, expected) => {
  expect(runbookLink(href)).toEqual(expected);
});

it.each([
  ["https://example.com/a", true],
  ["javascript:alert(1)", false],
  ["data:text/html,x", false],
  ["//example.com", false],
])("%s is an address of the web: %s", (href, expected) => {
  expect(isWebAddress(href)).toBe(expected);
});

it("names sections as the links do", () => {
  expect(anchorOf("Partitions below min.insync.replicas")).toBe("partitions-below-mininsyncreplicas");
});
