"""What people who see little or use no mouse need: axe's rules, and a walk by Tab."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Page

from tests.e2e.service import REPOSITORY

AXE = REPOSITORY / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
# More stops than any page has; a walk that gets so far goes in a circle.
STOPS_MAX = 250

_AXE_RUN = """async (tags) => {
  const found = await axe.run(document, { runOnly: tags, resultTypes: ["violations"] });
  return found.violations.flatMap((rule) => rule.nodes.map((node) =>
    `${rule.id}: ${node.target.join(" ")}: ${node.any.concat(node.all).map((one) => one.message).join("; ")}`));
}"""

# Numbers what somebody can act upon in the page's own part, and says what each is.
_MARK = """() => {
  const wanted = "a[href], button, input, select, textarea, [role=slider]";
  const stops = [...document.querySelectorAll("main :is(" + wanted + ")")].filter((element) => {
    if (element.disabled || element.tabIndex < 0 || element.type === "hidden") return false;
    // Of a group of radios only the chosen one is a stop; arrows go to the others.
    if (element.type === "radio" && !element.checked) return false;
    return element.checkVisibility();
  });
  stops.forEach((element, index) => { element.dataset.stop = String(index); });
  return stops.map((element) => element.getAttribute("aria-label") || element.textContent.trim()
    || element.labels?.[0]?.textContent || element.id || element.outerHTML.slice(0, 120));
}"""

# Where the focus is, and whether one can see that it is there.
_FOCUS = """() => {
  const at = document.activeElement;
  if (at === null || at === document.body) return null;
  const near = [at, at.nextElementSibling, at.parentElement, at.closest("label")].filter(Boolean);
  const drawn = (element) => {
    const style = getComputedStyle(element);
    return (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0)
      || style.boxShadow !== "none";
  };
  const edge = at.matches("input:not([type=radio], [type=checkbox]), textarea, select");
  return { stop: at.dataset.stop ?? null, isSeen: edge || near.some(drawn) };
}"""


# The page follows the wish in a listener, after which colours may still be on their way.
_IS_IN_SCHEME = """(scheme) => document.documentElement.dataset.mantineColorScheme === scheme
  && document.getAnimations().every((one) => !(one instanceof CSSTransition))"""


def in_scheme(page: Page, scheme: Literal["light", "dark"]) -> None:
    """Has the page in the scheme, with every transition between the schemes' colours ended."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function(_IS_IN_SCHEME, arg=scheme)


def axe_source(path: Path = AXE) -> str:
    return path.read_text(encoding="utf-8")


def violations(page: Page, source: str) -> list[str]:
    """What axe finds against the rules of WCAG 2.1 A and AA: contrast, names, roles."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(source)
    found: list[str] = page.evaluate(_AXE_RUN, TAGS)
    return found


def walk(page: Page) -> tuple[list[str], list[str]]:
    """(what Tab does not reach, where one does not see the focus) of the page's own part."""
    names: list[str] = page.evaluate(_MARK)
    missed, unseen = set(range(len(names))), []
    page.evaluate("document.activeElement?.blur?.()")
    for _ in range(STOPS_MAX):
        page.keyboard.press("Tab")
        at: dict[str, Any] | None = page.evaluate(_FOCUS)
        if at is None:
            break
        if at["stop"] is None:
            continue
        stop = int(at["stop"])
        if stop not in missed:
            break
        missed.discard(stop)
        if not at["isSeen"]:
            unseen.append(names[stop])
    return [names[stop] for stop in sorted(missed)], unseen
