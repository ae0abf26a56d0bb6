/** What the palette shows for a text: pages by our own names, everything else as the server found it. Pure. */
import type { AnswerOf } from "@/lib/addresses";
import type { Favourite } from "@/lib/favourites";
import { clusterHref, namedHref } from "@/lib/hrefs";
import { isKind, kindLabel } from "@/lib/kinds";
import type { Recent } from "@/lib/recent";
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
const FAVOURITES_SHOWN = 8;

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

const HREFS: Record<Found["kind"], (found: Found) => string> = {
  cluster: ({ id }) => clusterHref(id),
  topic: ({ id, cluster_id }) => namedHref("topic", cluster_id ?? "", id),
  group: ({ id, cluster_id }) => namedHref("group", cluster_id ?? "", id),
  user: ({ cluster_id }) => `${clusterHref(cluster_id ?? "")}/access`,
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

interface AtRest {
  /** The page that is open: the first that is offered is the one before it. */
  here: string;
  recent: readonly Recent[];
  /** Oldest first. */
  favourites: readonly Favourite[];
  clusterName: (id: string) => string | undefined;
  places: readonly (Place & { href: string })[];
}

/** Before anything is typed: what was opened last, the newest favourites, then the pages; each address once. */
export function atRest({ here, recent, favourites, clusterName, places }: AtRest): Section[] {
  const known = new Set<string>();
  const unseen = (entries: Entry[]): Entry[] =>
    entries.filter(({ href }) => !known.has(href) && Boolean(known.add(href)));
  const last = unseen(recent.filter(({ href }) => href !== here).map((row): Entry => ({ ...row, kind: "recent" })));
  const marked = unseen([...favourites].reverse().map((one) => favouriteEntry(one, clusterName(one.cluster_id))));
  const pages = unseen(places.map(({ href, title }): Entry => ({ kind: "place", href, title, note: "" })));
  return [
    { kind: "recent" as const, entries: last, more: false },
    {
      kind: "favourite" as const,
      entries: marked.slice(0, FAVOURITES_SHOWN),
      more: marked.length > FAVOURITES_SHOWN,
    },
    { kind: "place" as const, entries: pages, more: false },
  ].filter((section) => section.entries.length > 0);
}

const favouriteEntry = ({ kind, cluster_id, name }: Favourite, clusterName = ""): Entry => ({
  kind: "favourite",
  href: namedHref(kind, cluster_id, name),
  title: name,
  note: clusterName,
});
