import { count } from "./grammar";

export const palette = {
  open: "Search",
  /** The keys that open it, as a keyboard of a Mac and others have them. */
  keys: { mac: "⌘K", other: "Ctrl K" },
  title: "Search and go to",
  placeholder: "A cluster, topic, group, user, operation, runbook or page",
  kinds: {
    place: "Pages",
    recent: "Recent",
    favourite: "Favourites",
    cluster: "Clusters",
    topic: "Topics",
    group: "Consumer groups",
    user: "Users",
    operation: "Operations",
    runbook: "Runbooks",
  },
  nothing: (text: string) => `Nothing has a name like “${text}”.`,
  more: "More of these exist. Type more of the name.",
  failed: "The search failed. Pages can still be opened.",
  searching: "Searching…",
  results: (amount: number) => count(amount, { one: "# result", other: "# results" }),
  hint: "↑ ↓ to choose, Enter to open, Esc to close",
  help: {
    title: "Keyboard shortcuts",
    search: "Search everything and go to it",
    help: "Show this list",
    list: "Search in the list on this page",
    close: "Close what is open",
    goTo: (place: string) => `Go to ${place}`,
    inCluster: "In the open cluster",
    everywhere: "Everywhere",
    then: "then",
    typing: "Letters are shortcuts only while nothing is being typed.",
  },
} as const;
