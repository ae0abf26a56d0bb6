"""Lag objectives: `share` of the time a time lag of at most `seconds`; how fast the rest goes.

A window is good when the time lag is known and small enough, bad when it, or its lower bound, is
more, and else unknown, which spends nothing. When it is said to burn is in `burns`, how windows are
counted in `tallies`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from controlplane.analytics.insights.burns import BUDGET_S, WINDOWS_S, burn, verdict
from controlplane.analytics.insights.scene import Row
from controlplane.analytics.insights.tallies import ALL, Reading, Tally, pairs, reading, tallies
from controlplane.analytics.insights.targets import Pair, Target, by_target

GROUPS_AT_ONCE = 500


def rows(
    cluster_id: str,
    as_of_ms: int,
    targets: Sequence[Target],
    *,
    group: str | None = None,
    only: Collection[Pair] | None = None,
) -> list[Row]:
    """Of each group and topic, or of these, in the 14 days before `as_of_ms`, by its objective.

    Raises:
        TooManyWindowsError: see `tallies`.
    """
    found = reading(cluster_id, as_of_ms, BUDGET_S)
    return _rows(found, targets, pairs(found, group) if only is None else only)


def near(cluster_id: str, as_of_ms: int, targets: Sequence[Target]) -> list[Row]:
    """As `rows`, of those with an objective that somebody set, and of the longest window of a burn
    alone: nothing is said of the budget.
    """
    found = reading(cluster_id, as_of_ms, max(WINDOWS_S.values()))
    own = by_target(pairs(found, None), cluster_id, targets)
    wanted = [pair for target, mine in own.items() if target.objective_id for pair in mine]
    whole = ("good_share", "budget_left", "good", "bad", "unknown")
    return [
        {name: value for name, value in row.items() if name not in whole}
        for row in _rows(found, targets, wanted)
    ]


def _rows(found: Reading, targets: Sequence[Target], wanted: Collection[Pair]) -> list[Row]:
    answered = []
    for target, mine in by_target(wanted, found.cluster_id, targets).items():
        those = set(mine)
        for names in batched(sorted({name for name, _ in mine}), GROUPS_AT_ONCE):
            series = sum(name in set(names) for name, _ in mine)
            counted = tallies(found, target.seconds, names, series)
            answered += [_row(pair, counted[pair], target) for pair in those & counted.keys()]
    return sorted(answered, key=lambda row: (row["group"], row["topic"]))


def _row(pair: Pair, tally: Tally, target: Target) -> Row:
    share = target.share
    burns = {name: burn(tally.good[name], tally.bad[name], share) for name in WINDOWS_S}
    good, bad = tally.good[ALL], tally.bad[ALL]
    spent = burn(good, bad, share)
    return {
        "group": pair[0],
        "topic": pair[1],
        "objective_id": target.objective_id,
        "seconds": target.seconds,
        "share": share,
        "verdict": verdict(burns).value,
        **{f"burn_{name}": rate for name, rate in burns.items()},
        "good_share": good / (good + bad) if good + bad else None,
        "budget_left": None if spent is None else 1 - spent,
        "good": good,
        "bad": bad,
        "unknown": tally.every - good - bad,
    }


def batched(names: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), size):
        yield names[start : start + size]
