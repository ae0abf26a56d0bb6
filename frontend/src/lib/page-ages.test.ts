import { describe, expect, it } from "vitest";
import { younger } from "./page-ages";

const part = (as_of: string | null, data: unknown) => ({ status: "ok", as_of, reason: null, data });

describe("a page that has not changed", () => {
  it("gets its new ages wherever the old ones stood, and nowhere else", () => {
    const page = {
      tag: "t",
      parts: {
        topics: part("T1", [
          { name: "a", as_of: "T1" },
          { name: "old", as_of: "T0" },
        ]),
        lag: part("T1", { as_of: "T1" }),
        hosts: part(null, null),
      },
    };
    expect(younger(page, "topics=T2, lag=T3, hosts=")).toEqual({
      tag: "t",
      parts: {
        topics: part("T2", [
          { name: "a", as_of: "T2" },
          { name: "old", as_of: "T0" },
        ]),
        lag: part("T3", { as_of: "T3" }),
        hosts: part(null, null),
      },
    });
  });

  it("gets each of several moments by its number, in the order of the fields' names, and keeps what is not said", () => {
    const group = (sampled_at: string, ts: string) => ({ ts, name: "g", sampled_at, created_at: "T1" });
    const page = { parts: { groups: part("T1", [group("T2", "T3"), group("T2", "T1"), group("T4", "T5")]) } };
    const now = younger(page, "groups=T6 T7 T8 T9").parts.groups;
    expect(now).toEqual(part("T6", [group("T7", "T8"), group("T7", "T6"), group("T9", "T5")]));
    expect(Object.keys((now.data as object[])[0] as object)).toEqual(["ts", "name", "sampled_at", "created_at"]);
  });

  it("keeps a moment that is said to stay, and renews those behind it", () => {
    const group = (sampled_at: string, ts: string) => ({ ts, sampled_at });
    const page = { parts: { groups: part("T1", [group("T2", "T3"), group("T2", "T1")]) } };
    const now = younger(page, "groups=T6 - T8").parts.groups;
    expect(now).toEqual(part("T6", [group("T2", "T8"), group("T2", "T6")]));
  });

  it("takes two moments that have changed places for what each is", () => {
    const page = { parts: { lag: part("T1", { as_of: "T2" }) } };
    expect(younger(page, "lag=T2 T1")).toEqual({ parts: { lag: part("T2", { as_of: "T1" }) } });
  });

  it("takes no other text for a moment", () => {
    const page = { parts: { lag: part("T1", { ts: "a b", as_of: "T2" }) } };
    expect(younger(page, "lag=T3 T4")).toEqual({ parts: { lag: part("T3", { ts: "a b", as_of: "T4" }) } });
  });

  it("keeps the age that it has where none is said", () => {
    const page = { parts: { topics: part("T1", []) } };
    expect(younger(page, "")).toEqual(page);
    expect(younger(page, "nonsense, other=T2")).toEqual(page);
  });
});
