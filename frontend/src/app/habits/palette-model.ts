/** What the palette shows for a text: pages by our own names, everything else as the server found it. Pure. */
import type { AnswerOf } from "@/lib/addresses";
import { isKind, kindLabel } from "@/lib/kinds";
import { words } from "@/words";
import type { Place } from "./places";

export type Found = AnswerOf<"get", "/console/api/search">["results"][number];
type Kind = keyof typeof words.palette.kinds;

export interface Entry {
  kind: Kind;
  /** Where it leads; no two entries of one list have the same. */
  href: string;
  title: string;
  note: string;
}

export interface Section {
  kind: Kind;
  entries: Entry[];
  /** There are more of them than are shown. */
  more: boolean;
}

const PLACES_SHOWN = 6;

/** How well a title goes with a text: 0 begins with it, 1 a word of it does, 2 it is in it; null not at all. */
export function rank(title: string, text: string): number | null {
  const [of, wanted] = [title.toLowerCase(), text.toLowerCase()];
  if (of.startsWith(wanted)) return 0;
  if (of.split(/[\s._/-]+/).some((word) => word.startsWith(wanted))) return 1;
  return of.includes(wanted) ? 2 : null;
}

export function placeEntries(places: (Place & { href: string })[], text: string, clusterName?: string): Entry[] {
  return places
    .map((place, at) => ({ place, at, rank: rank(place.title, text) }))
    .filter((row): row is typeof row & { rank: number } => row.rank !== null)
    .sort((one, other) => one.rank - other.rank || one.at - other.at)
    .slice(0, PLACES_SHOWN)
    .map(({ place }) => ({
      kind: "place",
      href: place.href,
      title: place.title,
      note: place.path.includes("{cluster}") ? (clusterName ?? "") : "",
    }));
}

const on = (found: Found, path: string): string => `/clusters/${encodeURIComponent(found.cluster_id ?? "")}/${path}`;

const HREFS: Record<Found["kind"], (found: Found) => string> = {
  cluster: ({ id }) => `/clusters/${encodeURIComponent(id)}`,
  topic: (found) => on(found, `topics/${encodeURIComponent(found.id)}`),
  group: (found) => on(found, `groups/${encodeURIComponent(found.id)}`),
  user: (found) => on(found, "access"),
  operation: ({ id }) => `/operations/${encodeURIComponent(id)}`,
  runbook: ({ id }) => `/runbooks/${encodeURIComponent(id)}`,
};

/** An operation is called by what it does, as everywhere else. */
function titleOf({ kind, title }: Found): string {
  const [first = "", ...rest] = title.split(" ");
  return kind === "operation" && isKind(first) ? [kindLabel(first), ...rest].join(" ") : title;
}

export function foundEntry(found: Found): Entry {
  const href = HREFS[found.kind](found);
  return {
    kind: found.kind,
    // Two users of one cluster are on the same page.
    href: found.kind === "user" ? `${href}?q=${encodeURIComponent(found.id)}` : href,
    title: titleOf(found),
    note: [found.cluster_name, found.note].filter(Boolean).join(" · "),
  };
}

export function sections(places: Entry[], found: readonly Found[], more: readonly string[]): Section[] {
  const kinds = Object.keys(words.palette.kinds) as Kind[];
  const entries = [...places, ...found.map(foundEntry)];
  return kinds
    .map((kind) => ({ kind, entries: entries.filter((entry) => entry.kind === kind), more: more.includes(kind) }))
    .filter((section) => section.entries.length > 0);
}
