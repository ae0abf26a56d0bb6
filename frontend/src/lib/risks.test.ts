import { describe, expect, it } from "vitest";
import { plan } from "@/testing/samples";
import { isRisky, risksText } from "./risks";

const of = (risks: string[] | undefined) =>
  plan({ impact: { summary: "", warnings: [], risks } } as unknown as Parameters<typeof plan>[0]);

describe("risks of a plan", () => {
  it("are said in words", () => {
    expect(risksText(of(["loses-data", "opens-access"]))).toBe("records may be lost, others may get access");
    expect(isRisky(of(["skips-records"]))).toBe(true);
  });

  it.each([[[]], [undefined]])("are none where the plan names none (%o)", (risks) => {
    expect([risksText(of(risks)), isRisky(of(risks))]).toEqual(["", false]);
  });
});
