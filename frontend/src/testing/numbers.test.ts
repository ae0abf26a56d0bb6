import { describe, expect, it } from "vitest";
import { inexactNumbers, isHumanForm } from "./numbers";

describe("a number in human form", () => {
  it.each(["1.18 MiB", "12.3k", "3d 4h", "59m 59s", "in 30m", "≥ 2h", "20 %", "−344 %", "14/s", "120ms", "1.2M"])(
    "is %s",
    (text) => expect(isHumanForm(text)).toBe(true),
  );
  it.each(["1,234", "3 of 4", "sales-3d", "v1.2m-beta", "host-1s", "30 B", "2.28 EUR", "Nov 21, 2026", "1.5 s", "p95"])(
    "is not %s",
    (text) => expect(isHumanForm(text)).toBe(false),
  );
});

describe("the walk over a page", () => {
  const walk = (html: string, isSaid?: (text: string) => boolean) => {
    const root = document.createElement("div");
    root.innerHTML = html;
    return inexactNumbers(root, isSaid).map((one) => one.slice(1, one.indexOf("”")));
  };

  it("finds what is rounded and says its exact value nowhere", () => {
    expect(walk("<b>4 KiB</b><b title='4,200 bytes'>4.1 KiB</b>")).toEqual(["4 KiB"]);
  });

  it("takes no title without a number or a unit for an exact value", () => {
    expect(walk("<b title='at its pace'>in 2h</b><b title='7200'>2h</b>")).toEqual(["in 2h", "2h"]);
  });

  it("leaves times, choices, headings and the server's own sentences", () => {
    const html =
      "<time datetime='2026-11-21T10:00:00Z'>5m ago</time><button>Keep 1d</button><dt>To 80 %</dt><p>It reads 14/s.</p>";
    expect(walk(html, (text) => text === "It reads 14/s.")).toEqual([]);
  });
});
