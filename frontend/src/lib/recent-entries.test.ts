import { beforeEach, describe, expect, it, vi } from "vitest";
import { RECENT_MAX, recentEntries, rememberEntry } from "./recent-entries";

const entry = (at: number) => ({ href: `/topics/${at}`, title: `t${at}`, note: "" });

describe("what was opened last", () => {
  beforeEach(() => sessionStorage.clear());

  it("is the newest first, each once, and few", () => {
    for (let at = 0; at < RECENT_MAX + 4; at += 1) rememberEntry("ada@t1", entry(at));
    rememberEntry("ada@t1", entry(6));
    const kept = recentEntries("ada@t1");
    expect(kept).toHaveLength(RECENT_MAX);
    expect(kept.slice(0, 2).map(({ title }) => title)).toEqual(["t6", `t${RECENT_MAX + 3}`]);
  });

  it("is of one person in one tenant", () => {
    rememberEntry("ada@t1", entry(1));
    expect(recentEntries("ada@t2")).toEqual([]);
    expect(recentEntries("bob@t1")).toEqual([]);
  });

  it.each([
    "nonsense",
    "{}",
    '[{"href":"//evil.example","title":"x","note":""}]',
    '[{"href":"javascript:1"}]',
    "[null]",
  ])("takes nothing that is not ours: %s", (kept) => {
    sessionStorage.setItem("penstock-palette:ada@t1", kept);
    expect(recentEntries("ada@t1")).toEqual([]);
  });

  it("does without storage", () => {
    vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
      throw new DOMException("full");
    });
    expect(() => rememberEntry("ada@t1", entry(1))).not.toThrow();
  });
});
