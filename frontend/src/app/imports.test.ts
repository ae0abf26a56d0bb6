/** No module of ours imports itself by a detour; imports of types and of lazily loaded pages count too. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";

const SOURCES = join(import.meta.dirname, "..");
type Graph = ReadonlyMap<string, readonly string[]>;

/** Every module with the modules of ours that it names. */
function importGraph(): Graph {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(SOURCES, name))
    .filter((path) => statSync(path).isFile());
  const known = new Set(files);
  const found = (from: string, name: string): string | undefined => {
    if (!name.startsWith(".") && !name.startsWith("@/")) return undefined;
    const base = name.startsWith("@/") ? join(SOURCES, name.slice(2)) : join(dirname(from), name);
    return [base, ...[".ts", ".tsx", ".d.ts", "/index.ts"].map((end) => base + end)].find((path) => known.has(path));
  };
  return new Map(
    files.map((file) => [
      file,
      ts
        .preProcessFile(readFileSync(file, "utf8"))
        .importedFiles.flatMap(({ fileName }) => found(file, fileName) ?? []),
    ]),
  );
}

/** The first circle met from each module on, as the modules along it. */
function circlesOf(graph: Graph): string[][] {
  const done = new Set<string>();
  const path: string[] = [];
  const circles: string[][] = [];
  const visit = (node: string): void => {
    if (path.includes(node)) circles.push([...path.slice(path.indexOf(node)), node]);
    if (path.includes(node) || done.has(node)) return;
    path.push(node);
    graph.get(node)?.forEach(visit);
    path.pop();
    done.add(node);
  };
  [...graph.keys()].forEach(visit);
  return circles;
}

describe("imports", () => {
  it("run in no circle", () => {
    const circles = circlesOf(importGraph()).map((circle) => circle.map((file) => relative(SOURCES, file)).join(" → "));
    expect(circles).toEqual([]);
  });

  it("lead from nothing that is shipped to what only tests use", () => {
    const testing = join(SOURCES, "testing");
    const shipped = [...importGraph()].filter(([file]) => !file.startsWith(testing) && !/\.test\.tsx?$/.test(file));
    expect(shipped.filter(([, named]) => named.some((file) => file.startsWith(testing))).map(([file]) => file)).toEqual(
      [],
    );
  });

  it("are all seen by this test", () => {
    const graph = importGraph();
    const named = (from: string) => (graph.get(join(SOURCES, from)) ?? []).map((file) => relative(SOURCES, file));
    expect(named("lib/types.ts")).toEqual(["generated/api.d.ts"]);
    expect(named("app/router.tsx")).toEqual(
      expect.arrayContaining(["components/card.tsx", "features/topics/topic-page.tsx"]),
    );
    expect(
      circlesOf(
        new Map([
          ["a", ["b"]],
          ["b", ["c", "a"]],
          ["c", []],
        ]),
      ),
    ).toEqual([["a", "b", "a"]]);
  });
});
