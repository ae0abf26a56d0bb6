import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { addRecent, clearRecent, RECENT_MAX, readRecent } from "./recent";

const row = (name: string) => ({ href: `/clusters/c1/topics/${name}`, title: name, note: "main" });

beforeEach(() => localStorage.clear());
afterEach(() => vi.restoreAllMocks());

describe("what was opened last", () => {
  it("is kept newest first, each once, for one person and tenant", () => {
    for (const name of ["a", "b", "a"]) addRecent("ada.acme", row(name));
    addRecent("ada.other", row("x"));
    expect(readRecent("ada.acme").map(({ title }) => title)).toEqual(["a", "b"]);
    expect(readRecent("bob.acme")).toEqual([]);
  });

  it("is bounded", () => {
    for (let index = 0; index <= RECENT_MAX; index += 1) addRecent("k", row(`t${index}`));
    const titles = readRecent("k").map(({ title }) => title);
    expect(titles).toHaveLength(RECENT_MAX);
    expect([titles[0], titles.at(-1)]).toEqual([`t${RECENT_MAX}`, "t1"]);
  });

  it("is forgotten at sign-out, of everybody, and nothing else is", () => {
    addRecent("ada.acme", row("a"));
    addRecent("bob.acme", row("b"));
    localStorage.setItem("penstock.theme", "dark");
    clearRecent();
    expect(Object.keys(localStorage)).toEqual(["penstock.theme"]);
  });

  it.each([
    "{",
    "7",
    '{"a":1}',
    '[null,7,{"href":"/x"}]',
    '[{"href":"//evil.example","title":"x","note":""}]',
    '[{"href":"/\\\\evil.example","title":"x","note":""}]',
    '[{"href":"javascript:1","title":"x","note":""}]',
  ])("leaves out what somebody else wrote there: %s", (text) => {
    localStorage.setItem("penstock.recent.k", text);
    expect(readRecent("k")).toEqual([]);
    addRecent("k", row("a"));
    expect(readRecent("k")).toEqual([row("a")]);
  });

  it("does without storage", () => {
    vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
      throw new DOMException("full");
    });
    expect(() => addRecent("k", row("a"))).not.toThrow();
  });
});
