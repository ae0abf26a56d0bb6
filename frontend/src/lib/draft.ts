/** What a form holds so far, kept for the life of the tab: a reload loses nothing. */
import { useCallback, useState } from "react";

const PREFIX = "penstock.draft.";

/** A kept value of the same make as `initial`, else `initial`; an object's missing fields come from it. */
export function readDraft<T>(key: string, initial: T): T {
  try {
    const text = sessionStorage.getItem(PREFIX + key);
    if (text === null) return initial;
    const kept = JSON.parse(text) as unknown;
    if (!sameMake(kept, initial)) return initial;
    return isRecord(initial) && isRecord(kept) ? ({ ...initial, ...pick(kept, initial) } as T) : (kept as T);
  } catch {
    // No storage (private mode), or something else wrote there: the form starts empty.
    return initial;
  }
}

export function writeDraft(key: string, value: unknown): void {
  try {
    sessionStorage.setItem(PREFIX + key, JSON.stringify(value));
  } catch {
    // Full or forbidden storage: the form works, a reload empties it.
  }
}

/** Forget one form: every draft whose key is `key` or lies below it. Without a key: all, when somebody signs out. */
export function clearDrafts(key = ""): void {
  try {
    for (const name of Object.keys(sessionStorage)) {
      const mine = name === PREFIX + key || name.startsWith(`${PREFIX}${key}${key && "/"}`);
      if (mine) sessionStorage.removeItem(name);
    }
  } catch {
    // Nothing is kept where there is no storage.
  }
}

/** `useState` whose value is kept under `key`. Never for secrets. */
export function useDraft<T>(key: string, initial: T): [T, (next: T) => void] {
  const [value, setValue] = useState(() => readDraft(key, initial));
  const keep = useCallback(
    (next: T) => {
      setValue(next);
      writeDraft(key, next);
    },
    [key],
  );
  return [value, keep];
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

const makeOf = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);

/** Number fields hold text while one types. */
const sameMake = (kept: unknown, initial: unknown): boolean =>
  makeOf(kept) === makeOf(initial) || (typeof initial === "number" && typeof kept === "string");

function pick(kept: Record<string, unknown>, initial: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(kept).filter(([name, value]) => name in initial && sameMake(value, initial[name])));
}
