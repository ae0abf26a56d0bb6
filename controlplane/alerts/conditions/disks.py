"""When brokers' disks are full. Pure.

A broker says what the volumes of its log directories hold (KIP-827, Kafka 3.3); the one with the
least left of it counts. Of an older broker the override `capacity_bytes` says it, or nothing is
known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from controlplane.alerts.conditions.types import Condition, Key, Verdict, named
from controlplane.alerts.fact_types import BrokerFact, ClusterFacts
from controlplane.alerts.overrides import Setting, Tuning
from controlplane.alerts.rules import BY_ID, Severity

POINTS_MIN = 4
SPAN_MIN = timedelta(hours=1)
"""Of fewer points, or a shorter time, no trend is read."""
FORECAST_MAX_S = 400 * 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """Of one broker; `full_in_s` is null without a trend, or where it does not grow."""

    broker: int
    share: float
    largest_topic: str | None
    full_in_s: float | None
    severity: Severity | None


def judge(cluster: ClusterFacts, tuning: Tuning, now: datetime) -> Verdict:
    found = Verdict()
    rule = BY_ID["disk-filling"]
    setting = tuning.of(rule.id, cluster.id)
    if not setting.enabled:
        return found
    capacity = setting.thresholds["capacity_bytes"]
    if cluster.brokers is None:
        why = cluster.away or "its brokers are not known"
        found.unknown_at(cluster.id, why, rule.id)
        return found
    live = [broker for broker in cluster.brokers if broker.live]
    disks = [(broker, disk_of(broker, capacity)) for broker in live]
    outlooks = [outlook(broker, disk, setting) for broker, disk in disks if disk is not None]
    bad = [each for each in outlooks if each.severity is not None]
    if bad:
        found.holds.append(_condition(cluster, bad, setting, now))
    elif len(outlooks) < len(live):
        found.unknown_at(cluster.id, "some brokers did not say how full their disks are", rule.id)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """`used_share` of it is used; `left_bytes` are left."""

    used_share: float
    left_bytes: float


def disk_of(broker: BrokerFact, capacity: float | None) -> Disk | None:
    """What the broker says, or else what its logs take of `capacity`; None: not known."""
    total, usable = broker.disk_total_bytes, broker.disk_usable_bytes
    if total and usable is not None:
        return Disk(used_share=1 - usable / total, left_bytes=usable)
    if capacity is None or broker.size_bytes is None:
        return None
    left = capacity - broker.size_bytes
    return Disk(used_share=broker.size_bytes / capacity, left_bytes=max(0.0, left))


def outlook(broker: BrokerFact, disk: Disk, setting: Setting) -> Outlook:
    """All of what the broker's logs grow by goes to that disk: with several it comes later."""
    share = disk.used_share
    slope = growth(broker.sizes)
    full_in_s = None
    if slope is not None and slope > 0:
        left_s = disk.left_bytes / slope
        full_in_s = left_s if left_s <= FORECAST_MAX_S else None
    soon = full_in_s if full_in_s is not None else FORECAST_MAX_S
    severity = None
    if share >= setting.number("critical_share") or soon <= setting.number("critical_in_s"):
        severity = Severity.CRITICAL
    elif share >= setting.number("used_share") or soon <= setting.number("full_in_s"):
        severity = Severity.WARNING
    return Outlook(
        broker=broker.id,
        share=share,
        largest_topic=broker.largest_topic,
        full_in_s=full_in_s,
        severity=severity,
    )


def growth(points: Sequence[tuple[datetime, int]]) -> float | None:
    """Bytes a second: the median slope between all pairs (Theil and Sen), as deletion of old
    segments makes steps down that a mean would follow. Null without enough of it.
    """
    if len(points) < POINTS_MIN or points[-1][0] - points[0][0] < SPAN_MIN:
        return None
    slopes = sorted(
        (later - before) / (at - since).total_seconds()
        for index, (since, before) in enumerate(points)
        for at, later in points[index + 1 :]
        if at > since
    )
    if not slopes:
        return None
    middle = len(slopes) // 2
    return slopes[middle] if len(slopes) % 2 else (slopes[middle - 1] + slopes[middle]) / 2


def _condition(
    cluster: ClusterFacts, bad: Sequence[Outlook], setting: Setting, now: datetime
) -> Condition:
    worst = max(bad, key=lambda each: ((each.severity or Severity.INFO).rank, each.share))
    soonest = min(
        (each for each in bad if each.full_in_s is not None),
        default=None,
        key=lambda each: each.full_in_s or 0.0,
    )
    full_at = None
    text = "its trend names no day on which it is full"
    if soonest is not None and soonest.full_in_s is not None:
        full_at = now + timedelta(seconds=soonest.full_in_s)
        text = f"broker {soonest.broker}'s is full on {full_at:%Y-%m-%d at %H:%M} UTC by its trend"
    if worst.largest_topic is not None:
        text = f"the largest topic on broker {worst.broker} is {worst.largest_topic}; {text}"
    names = tuple(str(each.broker) for each in bad)
    shares = [f"{each.broker} ({each.share:.0%})" for each in bad]
    return Condition(
        key=Key("disk-filling", cluster.id),
        severity=setting.at_least(worst.severity or Severity.WARNING),
        summary=f"{cluster.name}: disks of broker {named(shares, len(shares))} fill up; {text}.",
        values={
            "topic": worst.largest_topic,
            "used_share": round(max(each.share for each in bad), 4),
            "full_at": full_at.isoformat(timespec="minutes") if full_at else None,
            "full_in_s": round(soonest.full_in_s) if soonest and soonest.full_in_s else None,
        },
        members=names,
        count=len(names),
        unit="brokers",
    )
