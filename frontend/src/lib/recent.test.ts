import { beforeEach, describe, expect, it } from "vitest";
import { addRecent, clearRecent, RECENT_MAX, readRecent } from "./recent";

const row = (name: string) => ({ kind: "topic", clusterId: "c1", name }) as const;

beforeEach(() => localStorage.clear());

describe("what was looked at last", () => {
  it("is kept newest first, each once, for one person and tenant", () => {
    for (const name of ["a", "b", "a"]) addRecent("ada.acme", row(name));
    addRecent("ada.other", row("x"));
    expect(readRecent("ada.acme").map(({ name }) => name)).toEqual(["a", "b"]);
    expect(readRecent("bob.acme")).toEqual([]);
  });

  it("is bounded", () => {
    for (let index = 0; index <= RECENT_MAX; index += 1) addRecent("k", row(`t${index}`));
    const names = readRecent("k").map(({ name }) => name);
    expect(names).toHaveLength(RECENT_MAX);
    expect([names[0], names.at(-1)]).toEqual([`t${RECENT_MAX}`, "t1"]);
  });

  it("is forgotten at sign-out, of everybody, and nothing else is", () => {
    addRecent("ada.acme", row("a"));
    addRecent("bob.acme", row("b"));
    localStorage.setItem("penstock.theme", "dark");
    clearRecent();
    expect(Object.keys(localStorage)).toEqual(["penstock.theme"]);
  });

  it.each(["{", "7", '{"a":1}', '[null,7,{"kind":"user"},{"kind":"topic","clusterId":1,"name":"x"}]'])(
    "leaves out what somebody else wrote there: %s",
    (text) => {
      localStorage.setItem("penstock.recent.k", text);
      expect(readRecent("k")).toEqual([]);
      addRecent("k", row("a"));
      expect(readRecent("k")).toEqual([row("a")]);
    },
  );
});
