import { describe, expect, it } from "vitest";
import { type Begun, type Pressed, SEQUENCE_MS, step, takesText, TEXT_MAX, typed } from "./shortcuts";

const goes = new Map([
  ["t", "/clusters/c1/topics"],
  ["g", "/never"],
]);
const key = (name: string, more: Partial<Pressed> = {}): Pressed => ({
  key: name,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...more,
});
const press = (pressed: Pressed, begun: Begun = null, atMs = 0, busy = false) =>
  step(begun, pressed, atMs, { goes, busy });

describe("shortcuts", () => {
  it.each([key("k", { ctrlKey: true }), key("K", { metaKey: true })])(
    "open the palette, from a field too",
    (pressed) => {
      expect(press(pressed).action).toEqual({ act: "palette" });
      expect(press(pressed, null, 0, true).action).toEqual({ act: "palette" });
    },
  );

  it("leave the browser its own", () => {
    for (const more of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }])
      expect(press(key("t", more), 0, 1).action).toBeNull();
    expect(press(key("k", { ctrlKey: true, shiftKey: true })).action).toBeNull();
  });

  it("help with a question mark, however a keyboard makes one", () => {
    expect(press(key("?", { shiftKey: true })).action).toEqual({ act: "help" });
    expect(press(key("?")).action).toEqual({ act: "help" });
  });

  it("go where two letters lead", () => {
    const { begun, action } = press(key("g"), null, 100);
    expect([begun, action]).toEqual([100, null]);
    expect(press(key("t"), begun, 200)).toEqual({ begun: null, action: { act: "go", href: "/clusters/c1/topics" } });
  });

  it("forget a first letter after a while, and with any other key", () => {
    expect(press(key("t"), 0, SEQUENCE_MS + 1).action).toBeNull();
    expect(press(key("q"), 0, 1)).toEqual({ begun: null, action: null });
    expect(press(key("Escape"), 0, 1).begun).toBeNull();
  });

  it("do nothing while somebody types or a dialog is open", () => {
    for (const name of ["?", "g", "t"]) expect(press(key(name), 0, 1, true)).toEqual({ begun: null, action: null });
  });
});

describe("what takes text", () => {
  it("is a field, a choice, or what can be edited", () => {
    for (const tag of ["input", "textarea", "select"]) expect(takesText(document.createElement(tag))).toBe(true);
    expect(takesText(document.createElement("button"))).toBe(false);
    expect(takesText(null)).toBe(false);
  });
});

describe("what is typed before a field is there", () => {
  const key = (key: string, more = {}) => ({
    key,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    shiftKey: false,
    ...more,
  });

  it("is letters, whatever their length, and what takes them away", () => {
    expect(typed("to", key("p"))).toBe("top");
    expect(typed("a", key("😀"))).toBe("a😀");
    expect(typed("a😀", key("Backspace"))).toBe("a");
  });

  it("is no key of another use, and no more than the palette takes", () => {
    expect([key("Enter"), key("Tab"), key("c", { ctrlKey: true })].map((one) => typed("a", one))).toEqual([
      null,
      null,
      null,
    ]);
    expect(typed("x".repeat(TEXT_MAX), key("y"))).toHaveLength(TEXT_MAX);
  });
});
