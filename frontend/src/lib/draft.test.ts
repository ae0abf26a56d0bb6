import { act, renderHook } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { clearDrafts, readDraft, useDraft, writeDraft } from "./draft";

describe("drafts", () => {
  beforeEach(() => sessionStorage.clear());

  it("outlive the form that made them", () => {
    const first = renderHook(() => useDraft("form/name", ""));
    act(() => first.result.current[1]("orders"));
    expect(first.result.current[0]).toBe("orders");
    first.unmount();
    expect(renderHook(() => useDraft("form/name", "")).result.current[0]).toBe("orders");
  });

  it("are no value of another make, and keep no field that the form does not have", () => {
    writeDraft("number", ["a list"]);
    expect(readDraft("number", 6)).toBe(6);
    writeDraft("form", { name: "orders", partitions: "12", gone: 1, configs: null });
    expect(readDraft("form", { name: "", partitions: 6, configs: "" })).toEqual({ name: "orders", partitions: "12", configs: "" });
    sessionStorage.setItem("penstock.draft.broken", "{");
    expect(readDraft("broken", "")).toBe("");
  });

  it("are forgotten form by form, and all at once at sign-out", () => {
    for (const key of ["a", "a/b", "ab", "c/d"]) writeDraft(key, "kept");
    sessionStorage.setItem("other", "stays");
    clearDrafts("a");
    expect(Object.keys(sessionStorage).sort()).toEqual(["other", "penstock.draft.ab", "penstock.draft.c/d"]);
    clearDrafts();
    expect(Object.keys(sessionStorage)).toEqual(["other"]);
  });
});
