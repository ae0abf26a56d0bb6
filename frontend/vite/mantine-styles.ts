/** The styles of the Mantine components that the sources use, in the package's own order: `virtual:mantine.css` those of
 * the frame and of what every page is made of, `virtual:mantine-more.css` all others, loaded with the first page that
 * has one of them.
 *
 * The package's one file holds those of every component, a tenth of what the first view may load. Which are needed
 * follows from the imports, so that a component used for the first time has its styles by itself (the development
 * server has to be started again for it). */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Plugin } from "vite";

const ALWAYS = ["baseline", "default-css-variables", "global"];
/** What others are built on comes first, whoever loads it, so that they can overrule it. */
const FIRST = new Set([
  ...ALWAYS,
  ...["UnstyledButton", "VisuallyHidden", "Paper", "Loader", "ActionIcon", "CloseButton"],
  ...[
    "Group",
    "Text",
    "Burger",
    "Button",
    "Center",
    "Container",
    "Divider",
    "Progress",
    "Skeleton",
    "Stack",
    "ThemeIcon",
    "Title",
  ],
]);

/** The names that `text` imports from @mantine/core. */
function namesIn(text: string): string[] {
  return [...text.matchAll(/import\s*\{([^}]*)\}\s*from "@mantine\/core"/g)].flatMap(([, names = ""]) =>
    names
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name && !name.startsWith("type ")),
  );
}

/** The names that any of `sources` imports. */
function importedNames(sources: string): Set<string> {
  const files = readdirSync(sources, { recursive: true, encoding: "utf8" });
  const shipped = files.filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file));
  return new Set(shipped.flatMap((file) => namesIn(readFileSync(join(sources, file), "utf8"))));
}

/** Every style sheet that the module `file` and what it imports name, by the modules that hold their class names. */
function collectStyles(file: string, seen: Set<string>, styles: Set<string>): void {
  if (seen.has(file) || !existsSync(file)) return;
  seen.add(file);
  const own = /([A-Za-z]+)\.module\.mjs$/.exec(file);
  if (own?.[1]) styles.add(own[1]);
  for (const [, path] of readFileSync(file, "utf8").matchAll(/from\s*"(\.[^"]+)"/g))
    collectStyles(join(dirname(file), path ?? ""), seen, styles);
}

const core = (root: string) => join(root, "node_modules/@mantine/core");

/** The style sheets that the components `names` need. */
function stylesOf(root: string, names: Iterable<string>): Set<string> {
  const styles = new Set<string>();
  const seen = new Set<string>();
  for (const name of names) collectStyles(join(core(root), "esm/components", name, `${name}.mjs`), seen, styles);
  return new Set([...styles].filter((name) => existsSync(join(core(root), `styles/${name}.css`))));
}

/** Names of style sheets, in the order in which the package's own file has them. */
export function mantineStyles(root: string): { first: string[]; more: string[] } {
  const whole = readFileSync(join(core(root), "styles.css"), "utf8");
  const place = (name: string) =>
    whole.indexOf(readFileSync(join(core(root), `styles/${name}.css`), "utf8").slice(0, 200));
  const all = [...ALWAYS, ...stylesOf(root, importedNames(join(root, "src")))]
    .map((name) => ({ name, at: place(name) }))
    .sort((one, other) => one.at - other.at)
    .map(({ name }) => name);
  return { first: all.filter((name) => FIRST.has(name)), more: all.filter((name) => !FIRST.has(name)) };
}

export function mantineStylesPlugin(root: string): Plugin {
  const ids = { first: join(root, "mantine.virtual.css"), more: join(root, "mantine-more.virtual.css") };
  const sheet = (names: string[]) => names.map((name) => `@import "@mantine/core/styles/${name}.css";`).join("\n");
  return {
    name: "penstock:mantine-styles",
    enforce: "pre",
    resolveId(asked) {
      if (asked === "virtual:mantine.css") return ids.first;
      return asked === "virtual:mantine-more.css" ? ids.more : undefined;
    },
    load(asked) {
      if (asked === ids.first) return sheet(mantineStyles(root).first);
      return asked === ids.more ? sheet(mantineStyles(root).more) : undefined;
    },
    transform(code, id) {
      if (!id.startsWith(join(root, "src")) || !/\.tsx?$/.test(id)) return undefined;
      const needsMore = [...stylesOf(root, namesIn(code))].some((name) => !FIRST.has(name));
      // On the first line: everything stays where it is written.
      return needsMore ? { code: `import "virtual:mantine-more.css"; ${code}`, map: null } : undefined;
    },
  };
}
