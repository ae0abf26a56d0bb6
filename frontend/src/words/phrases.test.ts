/** Modules put no phrases together: the rule that says so, and the list of what is no language. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Linter } from "eslint";
import ts from "typescript-eslint";
import { describe, expect, it } from "vitest";
import { noPhrases } from "../../eslint/phrases.js";
import noLanguage from "../../eslint/no-language.json";

const linter = new Linter();
const found = (code: string, allowed: string[] = []) =>
  linter
    .verify(
      code,
      {
        files: ["**/*.tsx"],
        languageOptions: { parser: ts.parser as Linter.Parser, parserOptions: { ecmaFeatures: { jsx: true } } },
        plugins: { words: { rules: { "no-phrases": noPhrases } } },
        rules: { "words/no-phrases": ["error", { allowed }] },
      },
      "x.tsx",
    )
    .map((one) => one.message.slice(1, one.message.indexOf("”")));

describe("the rule", () => {
  it.each([
    ["a sentence", 'const why = "A name is missing.";', ["A name is missing."]],
    ["a title in a table", 'const KINDS = { webhook: { label: "Address" } };', ["Address"]],
    ["a template with a word before what is worked out", "const s = `in ${span}`;", ["in …"]],
    ["a template with a word behind it", "const s = `${name}, peak`;", ["…, peak"]],
    ["a piece of a sentence", 'const s = prefix ? " starting with" : "";', ["starting with"]],
    ["an attribute that the other rule does not know", '<Review cancelLabel="Back" />', ["Back"]],
    ["what a function is called with", 'say("not known");', ["not known"]],
    ["the sentence of an error", "throw new Error(`Line ${n} is not key=value`);", ["Line … is not key=value"]],
  ])("refuses %s", (_, code, texts) => expect(found(code)).toEqual(texts));

  it.each([
    ["units by SI and IEC", "f(`${value} ms`); f(`${value} MiB`); f(`${value}/s`); f(`${value} %`);"],
    ["headers and media types", 'f("Content-Type", "application/json, application/problem+json");'],
    ["requests", 'f("GET /api/v1/members");'],
    ["Kafka's names", 'f("cleanup.policy", "READ", "PREFIXED", "retention_ms");'],
    ["states that are compared", 'if (title === "Decision" || key !== "Not that") f();'],
    ["selectors", 'root.querySelector("input, select");'],
    ["style", '<p style={{ padding: "4px 0", border: "1px solid var(--ps-line)" }} className="Big one" />'],
    ["names of components", 'lazyRouteComponent(() => import("./x"), "LoginPage");'],
    ["types", 'type State = "Not known" | "Known as such";'],
    ["imports", 'import x from "Some Module";'],
  ])("takes %s", (_, code) => expect(found(code)).toEqual([]));

  it("takes what is listed as no language", () =>
    expect(found('f("Backspace"); f("Delete");', ["Backspace"])).toEqual(["Delete"]));
});

describe("the list of what is no language", () => {
  it("names nothing that is not there any more", () => {
    const root = join(import.meta.dirname, "..");
    const sources = readdirSync(root, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name) && !/\.test\./.test(name))
      .map((name) => readFileSync(join(root, name), "utf8"))
      .join("\n");
    const pieces = (text: string) => text.split("…").map((piece) => piece.trim());
    const gone = Object.values(noLanguage)
      .flat()
      .filter((text) => !pieces(text).every((piece) => sources.includes(piece)));
    expect(gone).toEqual([]);
  });
});
