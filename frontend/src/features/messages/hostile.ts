/** Texts of strangers on one line: what would be invisible, or turn the text around, is a sign that is seen. */

/** Characters of a cell; the rest is in the message's own view. */
const CELL_CHARS = 240;
/** Right-to-left marks and overrides, isolates, zero-width characters, line and paragraph separators, the BOM. */
const UNSEEN = /[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
// eslint-disable-next-line no-control-regex -- these are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g;

const codePoint = (sign: string) => `⟨U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;

function picture(sign: string): string {
  const code = sign.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "␡" : codePoint(sign);
}

/** Every sign seen; line breaks too, as ␊. */
export const onOneLine = (text: string): string => text.replace(CONTROL, picture).replace(UNSEEN, codePoint);

/** As `onOneLine`, but lines and tabs stay what they are. */
export const onLines = (text: string): string =>
  text.replace(CONTROL, (sign) => (sign === "\n" || sign === "\t" ? sign : picture(sign))).replace(UNSEEN, codePoint);

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
