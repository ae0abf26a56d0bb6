import { describe, expect, it } from "vitest";
import { ApiError, isRefusal, toProblem } from "./problem";

const refused = (status: number) => new ApiError({ title: "Refused", status });

describe("problems", () => {
  it("have a code that code compares with: their own, or the end of their type", () => {
    expect(new ApiError({ title: "t", status: 409, code: "stale", type: "https://x/y" }).code).toBe("stale");
    expect(new ApiError({ title: "t", status: 409, type: "https://penstock.dev/problems/plan-used" }).code).toBe(
      "plan-used",
    );
    expect(refused(409).code).toBe("");
    expect(new ApiError({ title: "Title", status: 400, detail: "Detail" }).message).toBe("Detail");
    expect(refused(404).message).toBe("Refused");
  });

  it("refuse a page only before it was ever there, and only for good", () => {
    expect([403, 404].map((status) => isRefusal({ data: undefined, error: refused(status) }))).toEqual([true, true]);
    expect([401, 500, 503].map((status) => isRefusal({ data: undefined, error: refused(status) }))).toEqual([
      false,
      false,
      false,
    ]);
    expect(isRefusal({ data: {}, error: refused(404) })).toBe(false);
    expect(isRefusal({ data: undefined, error: new Error("404") })).toBe(false);
  });

  it("are made of whatever was thrown", () => {
    expect(toProblem(refused(409))).toEqual({ title: "Refused", status: 409 });
    expect(toProblem(new DOMException("gone", "AbortError")).title).toBe("Request cancelled");
    expect(toProblem(new TypeError("Failed to fetch"))).toMatchObject({
      title: "The console could not reach its server",
      retryable: true,
    });
    expect(toProblem("odd")).toEqual({ title: "Unexpected error in the console", status: 0, detail: "odd" });
  });
});
