import { act, renderHook } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { clearDrafts, useDraft } from "./draft";

const PREFIX = "penstock.draft.";
const put = (key: string, value: unknown) => sessionStorage.setItem(PREFIX + key, JSON.stringify(value));
const read = <T>(key: string, initial: T): T => renderHook(() => useDraft(key, initial)).result.current[0];

describe("drafts", () => {
  beforeEach(() => sessionStorage.clear());

  it("outlive the form that made them", () => {
    const first = renderHook(() => useDraft("form/name", ""));
    act(() => first.result.current[1]("orders"));
    expect(first.result.current[0]).toBe("orders");
    first.unmount();
    expect(read("form/name", "")).toBe("orders");
  });

  it("keep only what was typed: a start value of now is not kept for later", () => {
    const form = renderHook(({ now }) => useDraft("form/time", now), { initialProps: { now: "10:00" } });
    form.rerender({ now: "10:01" });
    expect(form.result.current[0]).toBe("10:00");
    form.unmount();
    expect(Object.keys(sessionStorage)).toEqual([]);
    expect(read("form/time", "11:00")).toBe("11:00");
  });

  it("are no value of another make, and keep no field that the form does not have", () => {
    put("number", ["a list"]);
    expect(read("number", 6)).toBe(6);
    put("number", "12");
    expect(read<number | string>("number", 6)).toBe("12");
    put("form", { name: "orders", partitions: "12", gone: 1, configs: null });
    expect(read("form", { name: "", partitions: 6, configs: "" })).toEqual({
      name: "orders",
      partitions: "12",
      configs: "",
    });
    sessionStorage.setItem(`${PREFIX}broken`, "{");
    expect(read("broken", "")).toBe("");
  });

  it("are not there where storage is forbidden, and the form works all the same", () => {
    vi.spyOn(console, "warn").mockReturnValue(undefined);
    vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
      throw new DOMException("forbidden", "SecurityError");
    });
    const form = renderHook(() => useDraft("form/name", ""));
    act(() => form.result.current[1]("orders"));
    expect(form.result.current[0]).toBe("orders");
  });

  it("are forgotten form by form, and all at once at sign-out", () => {
    for (const key of ["a", "a/b", "ab", "c/d"]) put(key, "kept");
    sessionStorage.setItem("other", "stays");
    clearDrafts("a");
    expect(Object.keys(sessionStorage).sort()).toEqual(["other", "penstock.draft.ab", "penstock.draft.c/d"]);
    clearDrafts();
    expect(Object.keys(sessionStorage)).toEqual(["other"]);
  });
});
