/** What somebody opened last from the palette, in this tab and for this tenant; gone with the tab. */

export interface RecentEntry {
  href: string;
  title: string;
  note: string;
}

export const RECENT_MAX = 8;
const KEY = "penstock-palette";

/** `whose`: person and tenant, so that nobody sees what somebody else opened here. */
export function recentEntries(whose: string): RecentEntry[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(`${KEY}:${whose}`) ?? "[]");
    return Array.isArray(kept) ? kept.filter(isEntry).slice(0, RECENT_MAX) : [];
  } catch {
    return []; // no storage, or not ours
  }
}

export function rememberEntry(whose: string, { href, title, note }: RecentEntry): void {
  const others = recentEntries(whose).filter((entry) => entry.href !== href);
  try {
    sessionStorage.setItem(`${KEY}:${whose}`, JSON.stringify([{ href, title, note }, ...others].slice(0, RECENT_MAX)));
  } catch {
    // A full or forbidden storage: there is just no list.
  }
}

function isEntry(value: unknown): value is RecentEntry {
  if (typeof value !== "object" || value === null) return false;
  const { href, title, note } = value as Record<string, unknown>;
  // An address of ours and no other: one that begins with two slashes leads elsewhere.
  return typeof href === "string" && /^\/(?!\/)/.test(href) && typeof title === "string" && typeof note === "string";
}
