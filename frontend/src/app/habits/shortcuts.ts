/** Which keys do what. Pure: what was pressed before, a key and the time make an action. */

/** The longest text that the palette searches for. */
export const TEXT_MAX = 100;
/** How long after `g` the next key belongs to it, ms. */
export const SEQUENCE_MS = 1_200;

export type Action = { act: "palette" } | { act: "help" } | { act: "go"; href: string };

export interface Pressed {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

/** When `g` was pressed, ms; null: it was not. */
export type Begun = number | null;

interface Step {
  begun: Begun;
  action: Action | null;
}

/** `goes` are addresses by their key after `g`; `busy`: somebody types, or a dialog is open. */
export function step(
  begun: Begun,
  pressed: Pressed,
  atMs: number,
  { goes, busy }: { goes: ReadonlyMap<string, string>; busy: boolean },
): Step {
  const key = pressed.key.toLowerCase();
  // The one that works from a field, too: nobody types it.
  if ((pressed.metaKey || pressed.ctrlKey) && !pressed.altKey && !pressed.shiftKey && key === "k")
    return { begun: null, action: { act: "palette" } };
  if (busy || pressed.metaKey || pressed.ctrlKey || pressed.altKey) return { begun: null, action: null };
  if (pressed.key === "?") return { begun: null, action: { act: "help" } };
  if (pressed.shiftKey) return { begun: null, action: null };
  if (begun !== null && atMs - begun <= SEQUENCE_MS) {
    const href = goes.get(key);
    return { begun: null, action: href === undefined ? null : { act: "go", href } };
  }
  return { begun: key === "g" ? atMs : null, action: null };
}

/** A text with what was pressed typed behind it; null: it types nothing. */
export function typed(text: string, { key, ctrlKey, metaKey, altKey }: Pressed): string | null {
  if (ctrlKey || metaKey || altKey) return null;
  if (key === "Backspace") return [...text].slice(0, -1).join("");
  // A key that has a name of several letters is no letter; a letter may be two units long.
  return [...key].length === 1 ? (text + key).slice(0, TEXT_MAX) : null;
}

/** Whether what has the focus takes text. */
export function takesText(element: Element | null): boolean {
  if (!(element instanceof HTMLElement)) return false;
  return element.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(element.tagName);
}

export const isMac = (): boolean => /Mac|iPhone|iPad/.test(navigator.platform);
