"""Whether a cluster is to be rebalanced by itself now, and why. Pure.

Judged is how far the broker that is furthest from the mean is from it, in percent of the mean, by
bytes and by the partitions that prefer it as their leader. What is not known is no reason to move
anything. Less than a partition, or than what a few segments take, is never out of balance.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import fmean
from typing import Final

from controlplane.common.said import Said, joined
from controlplane.common.sentences import Param
from controlplane.common.times import iso
from controlplane.healing.windows import Window, is_open, opens_at
from controlplane.reassignments.schedule_sentences import judged

THRESHOLD_MIN, THRESHOLD, THRESHOLD_MAX = 5, 20, 500
"""Percent of the mean."""
BYTES_MIN: Final = 64 * 2**20
"""Two brokers that differ by less are alike: segments come and go."""
LOOK_EVERY: Final = timedelta(minutes=10)
"""All sizes are asked for, of every broker."""
AGAIN_AFTER: Final = timedelta(hours=6)
"""From the end of one to the next one's beginning; a day after one that failed."""
AGAIN_AFTER_FAILURE: Final = timedelta(hours=24)
GIB: Final = 2**30

NONE, WAIT, BEGIN = "none", "wait", "begin"
LATER: Final = "later"


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    enabled: bool
    threshold_percent: int
    windows: tuple[Window, ...] = ()
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What one live broker has; `bytes` is None where it did not say."""

    broker: int
    bytes: int | None
    leaders: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What was before: the last one that a schedule began, and when the cluster was looked at.

    `ended_at` is None while it runs, and where there was none.
    """

    is_running: bool = False
    ended_at: datetime | None = None
    has_failed: bool = False
    looked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What one look has shown.

    Attributes:
        loads: of every live broker.
        missing: brokers that should be there and are not.
        behind: partitions of which a replica is out of sync, or which have no leader.
        moving: partitions that somebody moves already.
        under_way: the operation that changes where the cluster's brokers or replicas are, or "".
        is_healing: whether a broker is about to be put elsewhere, or its host is being emptied.
    """

    loads: tuple[Load, ...]
    missing: int = 0
    behind: int = 0
    moving: int = 0
    under_way: str = ""
    is_healing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Imbalance:
    """How far the furthest broker is from the mean, in percent of it; None: not known."""

    percent: float | None
    broker: int | None = None
    has: float | None = None
    mean: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`code` is stable, `parts` its sentences."""

    act: str
    code: str
    parts: tuple[Said, ...]

    @property
    def text(self) -> str:
        """In English."""
        return joined(self.parts)


def _said(act: str, code: str, **params: Param) -> Verdict:
    """By the one sentence of this code."""
    return Verdict(act=act, code=code, parts=(judged(code, **params),))


def not_due(schedule: Schedule, past: Past, now: datetime) -> Verdict | None:
    """Why nobody is asked now; None where somebody is to look. Of code `LATER` it is no news."""
    if not schedule.enabled:
        return _said(NONE, "off")
    if past.is_running:
        return _said(NONE, "running")
    if not is_open(schedule.windows, schedule.time_zone, now):
        opens = opens_at(schedule.windows, schedule.time_zone, now)
        when = () if opens is None else (judged("window-opens", opens_at=iso(opens)),)
        return Verdict(act=NONE, code="outside-window", parts=(judged("outside-window"), *when))
    rest = AGAIN_AFTER_FAILURE if past.has_failed else AGAIN_AFTER
    if past.ended_at is not None and now - past.ended_at < rest:
        sentence = "rests/failed" if past.has_failed else "rests"
        said = judged(sentence, left_ms=_minutes_ms(past.ended_at + rest - now))
        return Verdict(act=NONE, code="rests", parts=(said,))
    if past.looked_at is not None and now - past.looked_at < LOOK_EVERY:
        return _said(NONE, LATER)
    return None


def judge(schedule: Schedule, facts: Facts) -> Verdict:
    """The one thing to do now, or what keeps it from being done."""
    return _forbidden(facts) or _judged(schedule, facts)


def _forbidden(facts: Facts) -> Verdict | None:
    if facts.under_way:
        return _said(WAIT, "under-way", kind=facts.under_way)
    if facts.moving:
        return _said(WAIT, "moving", partitions=facts.moving)
    if facts.missing:
        return _said(WAIT, "broker-away", brokers=facts.missing)
    if facts.is_healing:
        return _said(WAIT, "healing")
    if facts.behind:
        return _said(WAIT, "under-replicated", partitions=facts.behind)
    return None


def _judged(schedule: Schedule, facts: Facts) -> Verdict:
    held, led = imbalance_of_bytes(facts.loads), imbalance_of_leaders(facts.loads)
    limit = schedule.threshold_percent
    if held.percent is None or led.percent is None:
        return _said(WAIT, "sizes-unknown")
    if held.percent <= limit and led.percent <= limit:
        by_bytes, by_leaders = round(held.percent), round(led.percent)
        percents = {"bytes_percent": by_bytes, "leaders_percent": by_leaders}
        return _said(NONE, "balanced", **percents, limit_percent=limit)
    far = [
        said(found, found.percent)
        for found, said in ((held, _of_bytes), (led, _of_leaders))
        if found.percent is not None and found.percent > limit
    ]
    parts = (*far, judged("out-of-balance", limit_percent=limit))
    return Verdict(act=BEGIN, code="out-of-balance", parts=parts)


def _of_bytes(found: Imbalance, percent: float) -> Said:
    return judged(
        "far/bytes",
        broker=str(found.broker),
        held_gib=round((found.has or 0) / GIB, 1),
        percent=round(percent),
        mean_gib=round((found.mean or 0) / GIB, 1),
    )


def _of_leaders(found: Imbalance, percent: float) -> Said:
    return judged(
        "far/leaders",
        broker=str(found.broker),
        partitions=int(found.has or 0),
        percent=round(percent),
        mean=round(found.mean or 0.0, 1),
    )


# -- how far from the mean ----------------------------------------------------------------------
def imbalance_of_bytes(loads: Collection[Load]) -> Imbalance:
    return _imbalance([(each.broker, each.bytes) for each in loads], least=BYTES_MIN)


def imbalance_of_leaders(loads: Collection[Load]) -> Imbalance:
    return _imbalance([(each.broker, each.leaders) for each in loads], least=1)


def _imbalance(values: list[tuple[int, int | None]], *, least: int) -> Imbalance:
    known = [(broker, value) for broker, value in values if value is not None]
    if not known or len(known) < len(values):
        return Imbalance(percent=None)
    mean = fmean(value for _, value in known)
    broker, has = max(known, key=lambda one: (abs(one[1] - mean), -one[0]))
    if mean == 0 or abs(has - mean) < least:
        return Imbalance(percent=0.0, broker=broker, has=has, mean=mean)
    return Imbalance(percent=abs(has - mean) / mean * 100, broker=broker, has=has, mean=mean)


def _minutes_ms(left: timedelta) -> int:
    """Whole minutes, so that the sentence does not change with every look."""
    return (int(left.total_seconds()) // 60 + 1) * 60_000
