/** Texts of strangers: what would be invisible, or turn the text around, is a sign that is seen. */

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
