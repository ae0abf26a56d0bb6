import { describe, expect, it } from "vitest";
import { type Found, foundEntry, placeEntries, rank, sections } from "./palette-model";
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
