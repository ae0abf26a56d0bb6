/** Where in the source a dialog or a menu stands, and which of those a test has had open.
 *
 * The compiler tells each element's place to `jsxDEV`; a test that mocks that function by `placing` has it noted. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";

/** Components that open something over the page; what is made of them (`FormModal`) counts where it is used, too. */
const OVERLAYS = new Set([
  ...["Modal", "Modal.Root", "Menu", "Popover", "Drawer", "HoverCard", "Dialog"],
  ...["FormModal", "MoreMenu", "PlanFlow", "PlanDialog", "ShownOnce"],
]);
/** What lies over the page while it is open. */
export const OPEN = "[role=dialog], [role=menu]";
const SOURCE = join(process.cwd(), "src");

function* files(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (path !== join(SOURCE, "testing")) yield* files(path);
    } else if (entry.name.endsWith(".tsx") && !entry.name.includes(".test.")) yield path;
  }
}

function* placesIn(path: string): Generator<string> {
  const source = ts.createSourceFile(path, readFileSync(path, "utf-8"), ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isJsxOpeningLikeElement(node) && OVERLAYS.has(node.tagName.getText(source))) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      found.push(`${relative(SOURCE, path)}:${line + 1}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  yield* found;
}

/** Every place of a dialog or menu in the source, as "features/access/acl-form.tsx:34". */
export const everyPlace = (): string[] => [...files(SOURCE)].flatMap((path) => [...placesIn(path)]);

interface Place {
  fileName: string;
  lineNumber: number;
}
type Props = Record<string, unknown>;
type Jsx = (type: unknown, props: Props, key?: unknown, isStatic?: boolean, source?: Place, self?: unknown) => unknown;

// Modules that are loaded afresh find the places that others have kept.
const KEPT = Symbol.for("penstock-test-places");
const kept = ((globalThis as Record<symbol, unknown>)[KEPT] ??= new Set()) as Set<string>;

/** Whether it lies over the page: what is closed has nothing to show. A menu is opened by its button, which a walk presses. */
const isOpen = ({ opened, request, once }: Props): boolean => opened !== false && request !== null && once !== null;

/** React's runtime for JSX, which remembers what was drawn open, by where it is written. */
export function placing<T extends { jsxDEV: unknown }>(runtime: T): T {
  const jsxDEV: Jsx = (type, props, key, isStatic, source, self) => {
    if (source && isOpen(props)) kept.add(`${source.fileName}:${source.lineNumber}`);
    return (runtime.jsxDEV as Jsx)(type, props, key, isStatic, source, self);
  };
  return { ...runtime, jsxDEV };
}

/** Whether what stands there was drawn, and open. */
export const wasOpen = (place: string): boolean => kept.has(join(SOURCE, place));
