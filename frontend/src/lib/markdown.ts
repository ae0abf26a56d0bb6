/** The little of Markdown that runbooks use, as data: nothing of it is ever read as HTML. */

export type Inline = { kind: "text" | "code" | "strong"; text: string } | { kind: "link"; text: string; href: string };

export type MarkBlock =
  | { kind: "paragraph"; text: string }
  | { kind: "code"; text: string }
  | { kind: "list"; ordered: boolean; items: string[] }
  | { kind: "table"; head: string[]; rows: string[][] };

const ITEM = /^(?:[-*]|(\d+)\.) +(.*)$/;
const FENCE = /^```/;
const ROW = /^\|.*\|\s*$/;
const RULE = /^\|[\s:|-]+\|\s*$/;

const cells = (line: string): string[] =>
  line
    .trim()
    .slice(1, -1)
    .split("|")
    .map((cell) => cell.trim());

/** Blocks in their order. What is in no other form is a paragraph, so nothing is left out. */
export function blocksOf(text: string): MarkBlock[] {
  const lines = text.split("\n");
  const found: MarkBlock[] = [];
  let at = 0;
  const line = () => lines[at] ?? "";
  const paragraph: string[] = [];
  const end = () => {
    if (paragraph.length > 0) found.push({ kind: "paragraph", text: paragraph.splice(0).join(" ") });
  };
  while (at < lines.length) {
    if (FENCE.test(line())) {
      end();
      const body: string[] = [];
      for (at += 1; at < lines.length && !FENCE.test(line()); at += 1) body.push(line());
      at += 1;
      found.push({ kind: "code", text: body.join("\n") });
    } else if (ROW.test(line()) && RULE.test(lines[at + 1] ?? "")) {
      end();
      const head = cells(line());
      const rows: string[][] = [];
      for (at += 2; at < lines.length && ROW.test(line()); at += 1) rows.push(cells(line()));
      found.push({ kind: "table", head, rows });
    } else if (ITEM.test(line())) {
      end();
      const ordered = /^\d/.test(line());
      const items: string[] = [];
      // A line that is set in goes on with the item above it.
      for (; at < lines.length && (ITEM.test(line()) || /^ +\S/.test(line())); at += 1) {
        const item = ITEM.exec(line());
        if (item) items.push(item[2] ?? "");
        else items.push(`${items.pop() ?? ""} ${line().trim()}`);
      }
      found.push({ kind: "list", ordered, items });
    } else {
      if (line().trim() === "") end();
      else paragraph.push(line().trim());
      at += 1;
    }
  }
  end();
  return found;
}

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(([^)\s]+)\)/g;

/** Code, emphasis and links within a line; everything else is text as it stands. */
export function inlinesOf(text: string): Inline[] {
  const found: Inline[] = [];
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index > at) found.push({ kind: "text", text: text.slice(at, match.index) });
    const [whole, code, strong, label, href] = match;
    if (code !== undefined) found.push({ kind: "code", text: code });
    else if (strong !== undefined) found.push({ kind: "strong", text: strong });
    else if (label !== undefined && href !== undefined) found.push({ kind: "link", text: label, href });
    at = match.index + whole.length;
  }
  if (at < text.length) found.push({ kind: "text", text: text.slice(at) });
  return found;
}

/** The runbook that a link of a runbook leads to, and the section there; null: it leads elsewhere. */
export function runbookLink(href: string): { id: string; section?: string } | null {
  const found = /^([a-z][a-z0-9-]*)\.md(?:#([\w-]+))?$/.exec(href);
  return found?.[1] ? { id: found[1], section: found[2] } : null;
}

/** As the runbooks' own links name a section: letters, digits and dashes. */
export const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");

/** Only addresses of the web are opened; `javascript:` and others stay text. */
export const isWebAddress = (href: string): boolean => /^https?:\/\/[^\s]+$/.test(href);
