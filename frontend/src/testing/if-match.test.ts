/** Each PUT and DELETE of the console names the version that was read: found in the source, as written. */
import { describe, expect, it } from "vitest";

const sources = import.meta.glob<string>("../features/**/*.tsx", { eager: true, query: "?raw", import: "default" });
const writes = Object.entries(sources).flatMap(([file, text]) =>
  file.includes(".test.")
    ? []
    : [...text.matchAll(/api\.(?:put|delete)\([\s\S]*?\}\)/g)].map(([call]) => ({ file, call })),
);

describe("writes of the console", () => {
  it("are found", () => expect(writes.length).toBeGreaterThanOrEqual(8));
  it.each(writes)("name the version that they change: $file", ({ call }) => expect(call).toContain("ifMatch"));
});
