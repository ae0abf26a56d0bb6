"""How far a plan reaches: what it hits, what of that is not known, and how much more it may hit.

A plan's extents are measured again when it is confirmed. Amounts may have grown by
`TOLERANCE_PERCENT`, names may not have been joined by others, and nothing may have become
unknown: else what is confirmed is not what was read. Pure.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from controlplane.common.grants import Area
from controlplane.common.words import counted, sized
from controlplane.gateway.readings import Gap, Reading
from controlplane.operations.extents import TITLES
from controlplane.operations.naming import OF, Sees, everything

TOLERANCE_PERCENT = 10
"""By how much an amount may grow between plan and confirmation. What was 0 must stay 0."""
NAMES_SAID_MAX = 5
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """One measure of what a plan hits.

    Attributes:
        code: what is counted, one of `extents.TITLES`.
        noun: one of it.
        count: what is known; a lower bound when there are gaps.
        names: what is counted, where each has a name.
        of: the area of the names, where who sees the plan need not see them.
        may_change: it is only said, not compared when the plan is confirmed.
    """

    name: str
    code: str
    noun: str
    count: int
    names: tuple[str, ...] | None = None
    of: Area | None = None
    gaps: tuple[Gap, ...] = ()
    may_change: bool = False

    @property
    def title(self) -> str:
        """What is counted, as a phrase: `groups that read it`."""
        return TITLES[self.code]

    @property
    def limit(self) -> int | None:
        """The highest count at which the plan may still be confirmed."""
        if self.may_change:
            return None
        return self.count if self.names is not None else _tolerated(self.count)

    def as_row(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "code": self.code,
            "title": self.title,
            "value": None if self.gaps else self.count,
            "at_least": self.count,
            "names": None if self.names is None else list(self.names),
            "unknown": [asdict(gap) | {"brokers": list(gap.brokers)} for gap in self.gaps],
            "limit": self.limit,
            **({} if self.of is None else {OF: self.of.value}),
        }

    def params(self, name: str, *, whole: str = "") -> dict[str, Any]:
        """What sentences take of it: `<name>`, null while nothing of it is known, and
        `<whole>_are`, which is `least` where the amount is a lower bound, else `exact`.
        """
        known = not self.gaps or self.count > 0
        bound = "least" if self.gaps and known else "exact"
        return {name: self.count if known else None, f"{whole or name}_are": bound}

    def said(self) -> str:
        """`6600 records`, `at least 4400 records`, `an unknown number of records`."""
        known = sized(self.count) if self.noun == "byte" else counted(self.count, self.noun)
        if not self.gaps:
            return known
        if not self.count:
            return f"an unknown number of {self.noun}s"
        return f"at least {known}"


def amount(
    name: str, code: str, noun: str, reading: Reading[int], *, may_change: bool = False
) -> Extent:
    return Extent(
        name=name,
        code=code,
        noun=noun,
        count=reading.known,
        gaps=reading.gaps,
        may_change=may_change,
    )


def listed(
    name: str,
    code: str,
    noun: str,
    names: Iterable[str],
    gaps: tuple[Gap, ...] = (),
    *,
    of: Area | None = None,
) -> Extent:
    known = tuple(sorted(names))
    return Extent(name=name, code=code, noun=noun, count=len(known), names=known, gaps=gaps, of=of)


def unknown_of(extents: Sequence[Extent]) -> dict[str, list[str]]:
    """By each reason the codes of everything that it leaves uncertain."""
    touched: dict[str, list[str]] = {}
    for extent in extents:
        for gap in extent.gaps:
            touched.setdefault(gap.reason, []).append(extent.code)
    return touched


def grown(
    planned: Sequence[Row], now: Sequence[Row], sees: Sees = everything
) -> list[dict[str, Any]]:
    """The rows of `now` that go beyond what was planned, with old and new values.

    What was added is named as far as `sees` goes.
    """
    before = {row["name"]: row for row in planned}
    found = []
    for row in now:
        if row["limit"] is None:
            continue
        old = before.get(row["name"], {})
        added = sorted(set(row["names"] or ()) - set(old.get("names") or ()))
        reasons = {gap["reason"] for gap in old.get("unknown", ())}
        unknown = [gap["reason"] for gap in row["unknown"] if gap["reason"] not in reasons]
        too_much = row["names"] is None and row["at_least"] > (old.get("limit") or 0)
        if added or unknown or too_much or not old:
            found.append(
                {
                    "name": row["name"],
                    "title": row["title"],
                    "planned": old.get("value"),
                    "planned_at_least": old.get("at_least"),
                    "limit": old.get("limit"),
                    "now": row["value"],
                    "now_at_least": row["at_least"],
                    "added": [name for name in added if _is_seen(row, name, sees)],
                    "unknown": unknown,
                }
            )
    return found


def _is_seen(row: Row, name: str, sees: Sees) -> bool:
    return not row.get(OF) or sees(Area(row[OF]), name)


def growth_text(change: Row) -> str:
    """A change of `grown` as a sentence without its full stop."""
    old = _valued(change["planned"], change["planned_at_least"])
    now = _valued(change["now"], change["now_at_least"])
    text = f"{change['title']}: {old} in the plan, {now} now"
    if change["added"]:
        more = len(change["added"]) - NAMES_SAID_MAX
        rest = f" and {more} more" if more > 0 else ""
        text += f" (new: {', '.join(change['added'][:NAMES_SAID_MAX])}{rest})"
    elif change["limit"] is not None and change["now_at_least"] > change["limit"]:
        text += f" (at most {change['limit']} may be confirmed)"
    if change["unknown"]:
        text += f"; {', '.join(change['unknown'])}"
    return text


def _valued(value: int | None, at_least: int | None) -> str:
    if value is not None:
        return str(value)
    return f"at least {at_least}" if at_least else "unknown"


def _tolerated(count: int) -> int:
    return count + count * TOLERANCE_PERCENT // 100
