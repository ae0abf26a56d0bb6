"""What was measured, what was to be reached, and the table of both. Pure."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

MOMENTS = frozenset({"as_of", "tried_at", "age_s", "generated_at"})
"""Fields that say when something was looked at: the same state an instant later is no news."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number.

    Attributes:
        limit: what it may be at most, or at least if `at_least`; None: it is only shown.
    """

    what: str
    value: float
    unit: str
    limit: float | None = None
    at_least: bool = False

    @property
    def verdict(self) -> str:
        if self.limit is None:
            return ""
        reached = self.value >= self.limit if self.at_least else self.value <= self.limit
        sign = ">=" if self.at_least else "<="
        return f"{sign} {self.limit:g}  {'ok' if reached else 'MISSED'}"

    def line(self) -> str:
        return f"{self.what:<58} {self.value:>9,.1f} {self.unit:<8} {self.verdict}".rstrip()


def without_moments(value: Any) -> Any:
    """JSON without the fields that differ each time it is asked for."""
    if isinstance(value, dict):
        return {key: without_moments(inner) for key, inner in value.items() if key not in MOMENTS}
    if isinstance(value, list):
        return [without_moments(inner) for inner in value]
    return value


@dataclass(frozen=True, slots=True)
class Read:
    """An answer to a read of the page: `body` is None for 304."""

    url: str
    status: int
    body: bytes | None


@dataclass(frozen=True, slots=True)
class Reads:
    total: int
    not_modified: int
    """304: nothing new, in a few bytes."""
    repeated: int
    """200 with what the page had already."""

    @property
    def nothing_new(self) -> int:
        return self.not_modified + self.repeated


def judge_reads(reads: Iterable[Read]) -> Reads:
    """The first answer of each address is what the page knew before."""
    known: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for read in reads:
        counts["total"] += 1
        if read.status == 304:
            counts["not_modified"] += 1
            continue
        try:
            content = without_moments(json.loads(read.body or b"null"))
        except ValueError:
            content = repr(read.body)
        mark = json.dumps(content, sort_keys=True)
        counts["repeated"] += known.get(read.url) == mark
        known[read.url] = mark
    return Reads(counts["total"], counts["not_modified"], counts["repeated"])


KINDS = {
    "Document": "page",
    "Script": "scripts",
    "Stylesheet": "styles",
    "Font": "fonts",
    "Fetch": "data",
    "XHR": "data",
    "Image": "images",
}
FIRST_VIEW = ("page", "scripts", "styles", "fonts")
"""What the limit of the first view counts."""


def by_kind(sizes: Iterable[tuple[str, int]]) -> Mapping[str, int]:
    """Bytes by what they are, of (the browser's type of a resource, bytes as sent)."""
    found: Counter[str] = Counter()
    for kind, size in sizes:
        found[KINDS.get(kind, "other")] += size
    return found


def percentile(values: Iterable[float], share: float) -> float:
    ordered = sorted(values)
    if not ordered:
        return 0.0
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
