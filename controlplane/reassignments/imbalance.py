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

from controlplane.common.words import counted, lasting
from controlplane.healing.windows import Window, is_open, opens_at

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
    """`code` is stable, `text` a sentence."""

    act: str
    code: str
    text: str


def not_due(schedule: Schedule, past: Past, now: datetime) -> Verdict | None:
    """Why nobody is asked now; None where somebody is to look. Of code `LATER` it is no news."""
    if not schedule.enabled:
        return Verdict(act=NONE, code="off", text="Scheduled rebalance is off.")
    if past.is_running:
        return Verdict(act=NONE, code="running", text="The last one is under way.")
    if not is_open(schedule.windows, schedule.time_zone, now):
        opens = opens_at(schedule.windows, schedule.time_zone, now)
        when = "" if opens is None else f" The next one opens at {opens:%Y-%m-%d %H:%M} UTC."
        text = f"No maintenance window is open.{when}"
        return Verdict(act=NONE, code="outside-window", text=text)
    rest = AGAIN_AFTER_FAILURE if past.has_failed else AGAIN_AFTER
    if past.ended_at is not None and now - past.ended_at < rest:
        left = lasting(_minutes_ms(past.ended_at + rest - now))
        which = "failed" if past.has_failed else "ended"
        text = f"The last one {which} a short time ago; another look is taken in {left}."
        return Verdict(act=NONE, code="rests", text=text)
    if past.looked_at is not None and now - past.looked_at < LOOK_EVERY:
        return Verdict(act=NONE, code=LATER, text="The cluster was looked at just now.")
    return None


def judge(schedule: Schedule, facts: Facts) -> Verdict:
    """The one thing to do now, or what keeps it from being done."""
    return _forbidden(facts) or _judged(schedule, facts)


def _forbidden(facts: Facts) -> Verdict | None:
    def wait(code: str, text: str) -> Verdict:
        return Verdict(act=WAIT, code=code, text=text)

    if facts.under_way:
        return wait("under-way", f"{facts.under_way} is under way; one thing at a time.")
    if facts.moving:
        return wait("moving", f"{counted(facts.moving, 'partition')} are being moved already.")
    if facts.missing:
        return wait("broker-away", f"{counted(facts.missing, 'broker')} of the cluster are away.")
    if facts.is_healing:
        return wait("healing", "A broker is about to be put on another host.")
    if facts.behind:
        text = f"{counted(facts.behind, 'partition')} are not in sync on all of their brokers."
        return wait("under-replicated", text)
    return None


def _judged(schedule: Schedule, facts: Facts) -> Verdict:
    held, led = imbalance_of_bytes(facts.loads), imbalance_of_leaders(facts.loads)
    limit = schedule.threshold_percent
    if held.percent is None or led.percent is None:
        text = "What some brokers hold is not known, and what is not known is not balanced."
        return Verdict(act=WAIT, code="sizes-unknown", text=text)
    if held.percent <= limit and led.percent <= limit:
        text = (
            f"Brokers are at most {held.percent:.0f} % from the mean by bytes and"
            f" {led.percent:.0f} % by leaders; above {limit} % something is moved."
        )
        return Verdict(act=NONE, code="balanced", text=text)
    said = [
        text
        for found, text in ((held, _of_bytes(held)), (led, _of_leaders(led)))
        if found.percent is not None and found.percent > limit
    ]
    text = f"{' '.join(said)} Above {limit} % the cluster is rebalanced."
    return Verdict(act=BEGIN, code="out-of-balance", text=text)


def _of_bytes(found: Imbalance) -> str:
    return (
        f"Broker {found.broker} holds {(found.has or 0) / GIB:.1f} GiB, {found.percent:.0f} % from"
        f" the mean of {(found.mean or 0) / GIB:.1f} GiB."
    )


def _of_leaders(found: Imbalance) -> str:
    return (
        f"Broker {found.broker} is the preferred leader of"
        f" {counted(int(found.has or 0), 'partition')}, {found.percent:.0f} % from the mean of"
        f" {found.mean or 0:.1f}."
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
