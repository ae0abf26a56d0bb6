"""Texts that strangers chose, made fit for one line, for a paragraph, for a link. Pure."""

import unicodedata
from collections.abc import Mapping

from controlplane.notifications.events import AlertEvent

_NO_LETTERS = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Control characters, marks that turn the direction of writing, halves of characters, line ends."""
SHOWN_MAX = 30
"""Labels and values in a text for people."""
VALUE_MAX_CHARS = 200


def line(text: str, max_chars: int) -> str:
    """`text` in one line: whatever is no letter is a blank, and the end is cut off with `…`."""
    clean = "".join(" " if unicodedata.category(c) in _NO_LETTERS else c for c in text)
    return cut(" ".join(clean.split()), max_chars)


def paragraphs(text: str, max_chars: int) -> str:
    """`text` with its own lines, each as `line` has it."""
    lines = (line(part, max_chars) for part in text.replace("\r\n", "\n").split("\n"))
    return cut("\n".join(lines).strip("\n"), max_chars)


def cut(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[: max_chars - 1] + "…"


def link(url: str) -> str:
    """An http(s) address, or nothing: no other scheme gets into a page or a mail."""
    is_link = url.startswith(("https://", "http://")) and url.isascii() and url.isprintable()
    return url if is_link and " " not in url and '"' not in url else ""


def spoken(value: object) -> str:
    """A number or text for people; what is unknown says so, and is never 0."""
    return "unknown" if value is None else line(str(value), VALUE_MAX_CHARS)


def facts(event: AlertEvent) -> list[tuple[str, str]]:
    """What is known about an alert beside its summary, as pairs of lines."""
    found = [("Cluster", event.cluster_name), ("Rule", event.rule), ("Severity", event.severity)]
    rows: list[tuple[str, object]] = [(name, text) for name, text in found if text]
    rows += _pairs(event.labels)
    rows += _pairs(event.values)
    return [(line(name, VALUE_MAX_CHARS), spoken(value)) for name, value in rows[:SHOWN_MAX]]


def _pairs(given: Mapping[str, object]) -> list[tuple[str, object]]:
    return sorted(given.items(), key=lambda pair: pair[0])
