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

  it("keeps the age that it has where none is said", () => {
    const page = { parts: { topics: part("T1", []) } };
    expect(younger(page, "")).toEqual(page);
    expect(younger(page, "nonsense, other=T2")).toEqual(page);
  });
});
