"""How fast an objective's budget goes, and when that is too fast. Pure.

A burn rate of 1 spends the whole budget in exactly the objective's time; two windows must agree
before anything is said (Google SRE workbook, ch. 5). Of a share below 93.1 % nothing burns fast, as
the most is 1 / (1 - share), and below 83.4 % nothing slowly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spark_analytics.contracts.analyses import Verdict

FAST_BURN, SLOW_BURN = 14.4, 6.0
WINDOWS_S: Mapping[str, int] = {"5m": 300, "30m": 1800, "1h": 3600, "6h": 6 * 3600}
PAIRS = (
    ("1h", "5m", FAST_BURN, Verdict.FAST_BURN),
    ("6h", "30m", SLOW_BURN, Verdict.SLOW_BURN),
)
"""Long window, short window, rate, and what is said when both burn at it."""
BUDGET_S = 14 * 86_400
"""The objective's time: as long as windows are kept."""


def burn(good: int, bad: int, share: float) -> float | None:
    """How many times faster than allowed; null where nothing is known."""
    if good + bad == 0:
        return None
    return (bad / (good + bad)) / (1 - share)


def agreed(long: float | None, short: float | None, rate: float) -> bool | None:
    """Whether both windows burn at `rate` or more; null where what is known does not decide it."""
    is_so = [found >= rate for found in (long, short) if found is not None]
    if not all(is_so):
        return False
    return True if len(is_so) == len((long, short)) else None


def verdict(burns: Mapping[str, float | None]) -> Verdict:
    """Fast: 1 h and 5 min, slow: 6 h and 30 min, each at its rate."""
    found = {word: agreed(burns[long], burns[short], rate) for long, short, rate, word in PAIRS}
    for word, is_so in found.items():
        if is_so:
            return word
    return Verdict.UNKNOWN if None in found.values() else Verdict.WITHIN


def burns_of(row: Mapping[str, Any]) -> dict[str, float | None]:
    return {name: row[f"burn_{name}"] for name in WINDOWS_S}
