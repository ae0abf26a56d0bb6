import { describe, expect, it } from "vitest";
import { ApiError, fieldProblems, isRefusal, toProblem } from "./problem";

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

  it("refuse a page by 403 and 404 alone, whatever was there before", () => {
    expect([403, 404].map((status) => isRefusal({ data: undefined, error: refused(status) }))).toEqual([true, true]);
    expect([401, 500, 503].map((status) => isRefusal({ data: undefined, error: refused(status) }))).toEqual([
      false,
      false,
      false,
    ]);
    expect(isRefusal({ data: {}, error: refused(404) })).toBe(true);
    expect(isRefusal({ data: {}, error: refused(503) })).toBe(false);
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

  it("give each field its sentences, so that a form can show them there", () => {
    const errors = [
      { pointer: "/inputs/name", code: "a", detail: "Too long." },
      { pointer: "/inputs/name", code: "b", detail: "Not a name." },
      { pointer: "/inputs/configs/a~1b", code: "c", detail: "Unknown." },
      { pointer: "", code: "d", detail: "The body." },
    ];
    const error = new ApiError({ title: "Some fields are not valid", status: 422, errors });
    expect(fieldProblems(error)).toEqual({ name: "Too long. Not a name.", "configs/a/b": "Unknown." });
    expect(fieldProblems(new Error("away"))).toEqual({});
  });
});
