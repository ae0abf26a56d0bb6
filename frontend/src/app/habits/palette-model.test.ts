import { describe, expect, it } from "vitest";
import { atRest, type Found, foundEntry, placeEntries, rank, sections } from "./palette-model";
import { placesFor, PLACES } from "./places";

const found = (more: Partial<Found>): Found => ({
  kind: "topic",
  id: "orders",
  title: "orders",
  note: "",
  cluster_id: "c1",
  cluster_name: "main",
  ...more,
});

describe("the palette at rest", () => {
  const recent = (href: string, title: string) => ({ href, title, note: "main" });
  const favourite = (name: string) => ({ kind: "topic" as const, cluster_id: "c1", name });
  const listed = (more: Partial<Parameters<typeof atRest>[0]>) =>
    atRest({
      here: "/",
      recent: [],
      favourites: [],
      clusterName: (id) => (id === "c1" ? "main" : undefined),
      places: placesFor(undefined, false).slice(0, 2),
      ...more,
    }).map(({ kind, entries, more: isCut }) => [kind, entries.map(({ title, note }) => [title, note]), isCut]);

  it("has what was opened last but the open page, then favourites, then pages, each once", () => {
    const here = "/clusters/c1/topics/orders";
    const rows = [recent(here, "orders"), recent("/clusters/c1/topics/a%2Fb", "a/b"), recent("/alerts", "Alerts")];
    expect(listed({ here, recent: rows, favourites: [favourite("a/b"), favourite("orders")] })).toEqual([
      [
        "recent",
        [
          ["a/b", "main"],
          ["Alerts", "main"],
        ],
        false,
      ],
      ["favourite", [["orders", "main"]], false],
      ["place", [["Overview", ""]], false],
    ]);
  });

  it("has the newest favourites, and says when there are more; a cluster out of sight has no name", () => {
    const many = Array.from({ length: 9 }, (_, at) => ({ ...favourite(`t${at}`), cluster_id: "c2" }));
    const [section] = listed({ favourites: many });
    expect(section).toEqual(["favourite", [8, 7, 6, 5, 4, 3, 2, 1].map((at) => [`t${at}`, ""]), true]);
  });
});

describe("the palette's list", () => {
  it("ranks a beginning over a word over a part", () => {
    expect([rank("Topics", "to"), rank("New topic", "to"), rank("Auto", "to"), rank("Audit", "to")]).toEqual([
      0,
      1,
      2,
      null,
    ]);
    expect(rank("team-a.orders", "orders")).toBe(1);
  });

  it("offers pages of a cluster only where there is one, and the platform to its staff", () => {
    const titles = (cluster: string | undefined, isStaff: boolean) =>
      placesFor(cluster, isStaff).map((place) => place.title);
    expect(titles(undefined, false)).not.toContain("Topics");
    expect(titles("c1", false)).toContain("Topics");
    expect(titles("c1", false)).not.toContain("Platform");
    expect(titles("c1", true)).toContain("Platform");
  });

  it("has no shortcut twice", () => {
    const keys = PLACES.flatMap(({ key }) => (key ? [key] : []));
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys).not.toContain("g");
  });

  it("says of which cluster a page is", () => {
    const [topics] = placeEntries(placesFor("c1", false), "topics", "main");
    expect(topics).toEqual({ kind: "place", href: "/clusters/c1/topics", title: "Topics", note: "main" });
  });

  it.each([
    [found({}), "/clusters/c1/topics/orders", "orders", "main"],
    [found({ id: "a/b#c?d", title: "a/b#c?d" }), "/clusters/c1/topics/a%2Fb%23c%3Fd", "a/b#c?d", "main"],
    [found({ kind: "group", id: "readers", title: "readers" }), "/clusters/c1/groups/readers", "readers", "main"],
    [found({ kind: "user", id: "ada", title: "ada" }), "/clusters/c1/access?q=ada", "ada", "main"],
    [
      found({ kind: "cluster", id: "c1", title: "main", note: "running", cluster_id: null, cluster_name: null }),
      "/clusters/c1",
      "main",
      "running",
    ],
    [
      found({ kind: "operation", id: "op_1", title: "topic.create orders", note: "failed" }),
      "/operations/op_1",
      "Create topic orders",
      "main · failed",
    ],
    [
      found({ kind: "runbook", id: "disk-full", title: "A disk is full", cluster_id: null, cluster_name: null }),
      "/runbooks/disk-full",
      "A disk is full",
      "",
    ],
  ])("leads to what was found", (given, href, title, note) => {
    expect(foundEntry(given)).toMatchObject({ href, title, note });
  });

  it("groups by kind, pages first, and says where more exist", () => {
    const places = placeEntries(placesFor("c1", false), "topics");
    const made = sections(places, [found({ kind: "group", id: "g", title: "g" }), found({})], ["topic"]);
    expect(made.map(({ kind, more }) => [kind, more])).toEqual([
      ["place", false],
      ["topic", true],
      ["group", false],
    ]);
  });
});
