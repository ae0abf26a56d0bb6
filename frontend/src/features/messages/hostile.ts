/** Texts of strangers in a cell and in a view of their own. */
import { onLines, onOneLine } from "@/lib/hostile";

export { onLines, onOneLine };

/** Characters of a cell; the rest is in the message's own view. */
const CELL_CHARS = 240;

/** What a cell shows of a text. */
export function inCell(text: string): string {
  const cut = text.length > CELL_CHARS ? `${text.slice(0, CELL_CHARS)}…` : text;
  return onOneLine(cut);
}

/** JSON with a line for each item. Letters are moved apart and nothing is read: numbers keep all their digits. */
export function indented(json: string): string {
  let depth = 0;
  let inString = false;
  let found = "";
  const line = () => `\n${"  ".repeat(Math.min(depth, 40))}`;
  for (let index = 0; index < json.length; index += 1) {
    const sign = json[index] ?? "";
    if (inString) {
      found += sign;
      if (sign === "\\") {
        index += 1;
        found += json[index] ?? "";
      } else if (sign === '"') inString = false;
    } else if (sign === '"') {
      inString = true;
      found += sign;
    } else if (sign === "{" || sign === "[") {
      const close = sign === "{" ? "}" : "]";
      const next = /^\s*/.exec(json.slice(index + 1, index + 200))?.[0].length ?? 0;
      if (json[index + 1 + next] === close) {
        found += sign + close;
        index += 1 + next;
      } else {
        depth += 1;
        found += sign + line();
      }
    } else if (sign === "}" || sign === "]") {
      depth = Math.max(0, depth - 1);
      found += line() + sign;
    } else if (sign === ",") found += sign + line();
    else if (sign === ":") found += ": ";
    else if (!/\s/.test(sign)) found += sign;
  }
  return found;
}
