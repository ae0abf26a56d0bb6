/** What a form holds so far, kept for the life of the tab: a reload loses nothing. */
import { useSessionStorage } from "@mantine/hooks";
import { useState } from "react";

const PREFIX = "penstock.draft.";

/** `useState` whose value is kept under `key` in the tab's session storage. Never for secrets. */
export function useDraft<T>(key: string, initial: T): [T, (next: T) => void] {
  const [start] = useState(initial);
  // Without a default of its own the hook writes only what is typed: untouched fields stay as they are now.
  const [kept, keep] = useSessionStorage<T | undefined>({
    key: PREFIX + key,
    getInitialValueInEffect: false,
    sync: false,
    deserialize: (text) => fitted(text, start),
  });
  return [kept ?? start, keep];
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

/** A kept value of the same make as `initial`, else undefined; an object's missing fields come from `initial`. */
function fitted<T>(text: string | undefined, initial: T): T | undefined {
  try {
    const kept = JSON.parse(text ?? "") as unknown;
    if (!sameMake(kept, initial)) return undefined;
    return isRecord(initial) && isRecord(kept) ? ({ ...initial, ...pick(kept, initial) } as T) : (kept as T);
  } catch {
    // Something else wrote there: the form starts empty.
    return undefined;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const makeOf = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);

/** Number fields hold text while one types. */
const sameMake = (kept: unknown, initial: unknown): boolean =>
  makeOf(kept) === makeOf(initial) || (typeof initial === "number" && typeof kept === "string");

function pick(kept: Record<string, unknown>, initial: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(kept).filter(([name, value]) => name in initial && sameMake(value, initial[name])),
  );
}
