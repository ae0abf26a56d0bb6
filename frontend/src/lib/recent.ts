/** What a person has opened last, kept in this browser for each tenant of theirs; forgotten at sign-out. */
const PREFIX = "penstock.recent.";
/** A person and tenant keep, newest first. */
export const RECENT_MAX = 8;

export interface Recent {
  href: string;
  title: string;
  /** Empty where there is nothing to say. */
  note: string;
}

/** What may have been kept by anybody: anything else than such a row is left out. */
function isRecent(value: unknown): value is Recent {
  if (typeof value !== "object" || value === null) return false;
  const { href, title, note } = value as Record<string, unknown>;
  // An address of ours and no other: one that begins with two slashes, or a slash and a backslash, leads elsewhere.
  return typeof href === "string" && /^\/(?![/\\])/.test(href) && typeof title === "string" && typeof note === "string";
}

/** Rows under a key, newest first. */
export function readRecent(key: string): Recent[] {
  try {
    const kept = JSON.parse(localStorage.getItem(PREFIX + key) ?? "[]") as unknown;
    return Array.isArray(kept) ? kept.filter(isRecent).slice(0, RECENT_MAX) : [];
  } catch {
    return [];
  }
}

export function addRecent(key: string, { href, title, note }: Recent): void {
  const others = readRecent(key).filter((other) => other.href !== href);
  try {
    localStorage.setItem(PREFIX + key, JSON.stringify([{ href, title, note }, ...others].slice(0, RECENT_MAX)));
  } catch {
    // Nothing is kept where there is no storage, or no room.
  }
}

/** Of everybody who has used this browser: nobody after them is to see where they were. */
export function clearRecent(): void {
  try {
    for (const name of Object.keys(localStorage)) if (name.startsWith(PREFIX)) localStorage.removeItem(name);
  } catch {
    // Nothing is kept where there is no storage.
  }
}
