/** What a person has looked at last, kept in this browser for each tenant of theirs; forgotten at sign-out. */
const PREFIX = "penstock.recent.";
/** A person and tenant keep, newest first. */
export const RECENT_MAX = 20;

const KINDS = ["topic", "group"] as const;
export interface Recent {
  kind: (typeof KINDS)[number];
  clusterId: string;
  name: string;
}

const isSame = (one: Recent, other: Recent) =>
  one.kind === other.kind && one.clusterId === other.clusterId && one.name === other.name;

/** What may have been kept by anybody: anything else than such a row is left out. */
function isRecent(value: unknown): value is Recent {
  if (typeof value !== "object" || value === null) return false;
  const row = value as Partial<Record<keyof Recent, unknown>>;
  return KINDS.some((kind) => kind === row.kind) && typeof row.clusterId === "string" && typeof row.name === "string";
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

export function addRecent(key: string, row: Recent): void {
  const rows = [row, ...readRecent(key).filter((other) => !isSame(row, other))].slice(0, RECENT_MAX);
  try {
    localStorage.setItem(PREFIX + key, JSON.stringify(rows));
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
