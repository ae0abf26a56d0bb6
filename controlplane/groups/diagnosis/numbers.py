"""Numbers and names as a sentence says them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from controlplane.common.words import counted
from controlplane.groups.diagnosis.facts import Place

NAMED_MAX = 3
NAME_CHARS_MAX = 60
"""Of a client id or host, which whoever joins a group chooses."""


def span(seconds: float) -> str:
    """`45 s`, `12 min`, `23 h`, `9 days`."""
    if seconds < 90:
        return f"{round(seconds)} s"
    minutes = seconds / 60
    if minutes < 90:
        return f"{round(minutes)} min"
    hours = minutes / 60
    return f"{round(hours)} h" if hours < 48 else f"{round(hours / 24)} days"


def rate(records_per_s: float) -> str:
    """`14/s`, `0.4/s`, `1,200/s`."""
    if records_per_s <= 0:
        return "0/s"
    if records_per_s < 0.05:
        return "under 0.1/s"
    return f"{records_per_s:.1f}/s" if records_per_s < 10 else f"{records_per_s:,.0f}/s"


def records(number: int) -> str:
    return f"{number:,} {'record' if number == 1 else 'records'}"


def named(places: Sequence[Place]) -> str:
    """`orders-3 and orders-4`, `orders-0, orders-1, orders-2 and 4 more`."""
    names = [place.name for place in places[:NAMED_MAX]]
    more = len(places) - len(names)
    if more:
        return f"{', '.join(names)} and {more} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def others(number: int) -> str:
    return counted(number, "other partition")


def printable(text: str) -> str:
    """Cut, and without what moves a cursor or turns a line round."""
    shown = "".join(char if char.isprintable() else "\ufffd" for char in text)
    return shown if len(shown) <= NAME_CHARS_MAX else f"{shown[: NAME_CHARS_MAX - 1]}…"
