/** What somebody sees comes from the catalogue: the rule that says so, and the list of files that are still to do. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ESLint, Linter } from "eslint";
import ts from "typescript-eslint";
import { describe, expect, it } from "vitest";
import { noLiterals } from "../../eslint/literals.js";
import toDo from "../../eslint/literals-to-do.json";

/** How many files may be on the list: whoever moves one writes the smaller number here. It never gets larger. */
const LEFT_MAX = 0;

const root = join(import.meta.dirname, "../..");
const linter = new Linter();
const found = (code: string) =>
  linter
    .verify(
      code,
      {
        files: ["**/*.tsx"],
        languageOptions: { parser: ts.parser as Linter.Parser, parserOptions: { ecmaFeatures: { jsx: true } } },
        plugins: { words: { rules: { "no-literals": noLiterals } } },
        rules: { "words/no-literals": "error" },
      },
      "x.tsx",
    )
    .map((one) => one.message.slice(1, one.message.indexOf("”")));

describe("the rule", () => {
  it.each([
    ["text in an element", "<p>Not found</p>", ["Not found"]],
    ["text beside what is worked out", "<p>{count} topics</p>", ["topics"]],
    ["a string among children", '<p>{known ? "yes" : name}</p>', ["yes"]],
    ["a template among children", "<p>{`${count} topics`}</p>", ["… topics"]],
    ["a string inside a template", '<p>{`${all ? "all" : ""}${count}`}</p>', ["all"]],
    ["a title", '<Card title="Steps" />', ["Steps"]],
    ["a label by choice", '<Box aria-label={open ? "Hide" : say.show} />', ["Hide"]],
    ["a placeholder behind a condition", '<Box placeholder={empty && "Choose one"} />', ["Choose one"]],
    ["what stands in for a value", '<Time fallback={text ?? "not yet"} />', ["not yet"]],
    ["a column's header", 'column("at", { header: "Started" })', ["Started"]],
    ["an option's label", '[{ value: "all", label: "All" }]', ["All"]],
    ["a fragment", "<>since <b>{at}</b></>", ["since"]],
  ])("refuses %s", (_, code, texts) => expect(found(code)).toEqual(texts));

  it.each([
    ["the catalogue", "<Card title={say.steps}>{say.since(at)}</Card>"],
    ["signs", "<p>{a} · {b} – →</p>"],
    ["names of Kafka", "<code>cleanup.policy</code>"],
    ["what is compared", '<p>{state === "failed" && <b />}</p>'],
    ["what is no text", '<Card className="ps-card" tone="warn" key="Steps" />'],
    ["addresses", '<Link to="/topics" title="/api/v1/topics" />'],
    ["a key of a table", 'const TONES = { empty: "muted" }'],
    ["a pattern of an object", "const { title = first } = given; f(given.label)"],
    ["what a function is called with", '<p>{format(value, "seconds of it")}</p>'],
  ])("takes %s", (_, code) => expect(found(code)).toEqual([]));
});

describe("the list of files that are still to do", () => {
  it("does not grow", () => {
    expect(new Set(toDo).size).toBe(toDo.length);
    expect(toDo.length).toBeLessThanOrEqual(LEFT_MAX);
  });

  it("names files that are still to do: one that is done is taken off", async () => {
    expect(toDo.filter((name) => !existsSync(join(root, name)))).toEqual([]);
    if (toDo.length === 0) return;
    const eslint = new ESLint({
      cwd: root,
      overrideConfigFile: true,
      allowInlineConfig: false,
      overrideConfig: {
        files: ["**/*.tsx"],
        languageOptions: { parser: ts.parser as Linter.Parser, parserOptions: { ecmaFeatures: { jsx: true } } },
        plugins: { words: { rules: { "no-literals": noLiterals } } },
        rules: { "words/no-literals": "error" },
      },
    });
    const results = await eslint.lintFiles(toDo);
    expect(results.filter((one) => one.errorCount === 0).map((one) => one.filePath)).toEqual([]);
  });
});

describe("the catalogue", () => {
  it("has every file of it in its index, so that another language has to have it too", async () => {
    const places = readdirSync(join(root, "src/words/en"), { withFileTypes: true });
    const files = places
      .filter((place) => place.isFile() && !/^(index|grammar)\.ts$/.test(place.name))
      .map((place) => place.name);
    const named = Object.keys(await import("./en"));
    expect(named.length).toBe(files.length);
    expect(
      files
        .map((name) => name.replace(/-(\w)/g, (_: string, letter: string) => letter.toUpperCase()).replace(/\.ts$/, ""))
        .sort(),
    ).toEqual(named.sort());
  });

  it("has each folder's files in the file of its name", async () => {
    const en = join(root, "src/words/en");
    const folders = readdirSync(en, { withFileTypes: true }).filter((place) => place.isDirectory());
    expect(folders.length).toBeGreaterThan(0);
    for (const { name: folder } of folders) {
      const text = readFileSync(join(en, `${folder}.ts`), "utf8");
      const parts = readdirSync(join(en, folder)).map((name) => `"./${folder}/${name.replace(/\.ts$/, "")}"`);
      expect(parts.filter((part) => !text.includes(part))).toEqual([]);
    }
  });
});
