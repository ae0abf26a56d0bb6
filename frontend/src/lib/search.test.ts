import { describe, expect, it } from "vitest";
import {
  accessSearch,
  analyticsSearch,
  groupSearch,
  listSearch,
  loginSearch,
  reassignSearch,
  resetSearch,
  topicSearch,
} from "./search";

// What an address holds is anybody's text.
const read = (validator: (raw: never) => object, raw: object) =>
  JSON.parse(JSON.stringify(validator(raw as never))) as unknown;

describe("view state in the address", () => {
  it("is kept where it says something", () => {
    expect(read(listSearch, { q: "a", sort: "-name", page: 3, internal: "1", state: "trouble" })).toEqual({
      q: "a",
      sort: "-name",
      page: 3,
      internal: true,
      state: "trouble",
    });
    expect(read(listSearch, { q: 42, page: "2", internal: true })).toEqual({ q: "42", page: 2, internal: true });
  });

  it("is dropped where it says nothing or nonsense", () => {
    expect(read(listSearch, { q: "", page: 1, internal: "no", state: ["x"], other: 1 })).toEqual({});
    expect(read(listSearch, { page: "1.5", sort: {} })).toEqual({});
    expect(read(listSearch, { page: -2 })).toEqual({});
  });

  it.each([
    [topicSearch, "configuration"],
    [groupSearch, "members"],
    [accessSearch, "acls"],
  ])("knows a page's tabs and no other", (validator, tab) => {
    expect(read(validator, { tab, q: "x" })).toEqual({ tab, q: "x" });
    expect(read(validator, { tab: "elsewhere" })).toEqual({});
  });

  it("knows the ranges of time", () => {
    expect(read(analyticsSearch, { range: "6h", page: 2 })).toEqual({ range: "6h", page: 2 });
    expect(read(analyticsSearch, { range: "1y" })).toEqual({});
  });

  it("hands a topic to a wizard", () => {
    expect([read(reassignSearch, { topic: "sales" }), read(resetSearch, { topic: 7 })]).toEqual([
      { topic: "sales" },
      { topic: "7" },
    ]);
  });

  it.each([
    ["/clusters/c1?q=a", { next: "/clusters/c1?q=a" }],
    ["//evil.example", {}],
    ["/\\evil.example", {}],
    ["https://evil.example", {}],
    [undefined, {}],
  ])("leads from the login to %j as %j: never off the site", (next, found) => {
    expect(read(loginSearch, { next })).toEqual(found);
  });
});
