"""From where a group stands on its worst topic to why. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from controlplane.groups.diagnosis.facts import Cause, GroupFacts, Place, Standing
from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.statuses import Risk, Status

HOT_FAIR_SHARES = 2.0
"""A partition is hot that takes this many times its fair share of what is produced."""
HOT_LAG_SHARE = 0.5
"""and has at least this much of the lag."""
GROWING_SHARE = 0.02
"""Of what is produced; a lag that grows by less stands still (as the formulas' trend)."""
REBALANCING = frozenset({"preparingrebalance", "completingrebalance", "assigning", "reconciling"})
_BEHIND = frozenset({Status.LAGGING, Status.FALLING_BEHIND, Status.STALLED, Status.STOPPED})
_SIMPLE = {
    Status.REWOUND: Cause.REWOUND,
    Status.NOT_COMMITTING: Cause.NOT_COMMITTING,
    Status.CATCHING_UP: Cause.CATCHING_UP,
    Status.NO_COMMIT: Cause.NEVER_COMMITTED,
    Status.UNKNOWN: Cause.UNKNOWN,
}


@dataclass(frozen=True, slots=True)
class Found:
    """`places`: the partitions that are the cause; empty: all alike, or not known which.

    `others` counts the partitions of the topic that do well meanwhile.
    """

    cause: Cause
    places: tuple[Place, ...] = ()
    others: int = 0


def is_rebalancing(state: str) -> bool:
    return "".join(char for char in state.lower() if char.isalpha()) in REBALANCING


def cause_of(facts: GroupFacts, standing: Standing, rules: Rules) -> Found:
    """Why the group is where it is on that topic; what loses records comes before all else."""
    if standing.status is Status.DATA_LOST or standing.risk is Risk.LOSING:
        lost = tuple(place for place in places_of(facts, standing) if place.lost_records)
        return Found(Cause.DATA_LOST, lost)
    return pace_of(facts, standing, rules)


def pace_of(facts: GroupFacts, standing: Standing, rules: Rules) -> Found:
    """As `cause_of`, whatever has been lost."""
    places = places_of(facts, standing)
    if facts.count == 0:
        has_lag = bool(standing.lag_records) or standing.status in _BEHIND
        return Found(Cause.STOPPED if has_lag else Cause.NOBODY)
    if is_rebalancing(facts.state) and standing.status in _BEHIND | {Status.NOT_COMMITTING}:
        return Found(Cause.REBALANCING)
    has_stuck = standing.status is Status.DATA_LOST and bool(_stuck(places, rules))
    if has_stuck or standing.status in {Status.STALLED, Status.STOPPED}:
        return _stalled(facts, places, rules)
    if standing.status in {Status.FALLING_BEHIND, Status.LAGGING, Status.DATA_LOST}:
        return _slow(facts, standing, places, rules)
    if standing.status in _SIMPLE:
        return Found(_SIMPLE[standing.status])
    return Found(Cause.IDLE_MEMBERS if idle_members(facts) else Cause.CAUGHT_UP)


def idle_members(facts: GroupFacts) -> int:
    """How many members have no partition, while others have."""
    owners = {place.owner for place in facts.places if place.owner is not None}
    return len(facts.members.keys() - owners) if owners else 0


def places_of(facts: GroupFacts, standing: Standing) -> tuple[Place, ...]:
    return tuple(place for place in facts.places if place.topic == standing.topic)


def _stuck(places: Sequence[Place], rules: Rules) -> list[Place]:
    return [
        place
        for place in places
        if place.is_behind and place.stuck_s is not None and place.stuck_s >= rules.quiet_s
    ]


def _stalled(facts: GroupFacts, places: Sequence[Place], rules: Rules) -> Found:
    stuck = _stuck(places, rules)
    rest = [place for place in places if place.committed is not None and place not in stuck]
    not_owned = _not_owned(facts, stuck)
    if not_owned:
        return Found(Cause.NOT_OWNED, not_owned, len(rest))
    if not stuck or not rest:
        return Found(Cause.STALLED)
    if _are_all_of_one(stuck, places):
        return Found(Cause.STUCK_MEMBER, tuple(stuck), len(rest))
    return Found(Cause.STUCK_PARTITION, tuple(stuck), len(rest))


def _slow(facts: GroupFacts, standing: Standing, places: Sequence[Place], rules: Rules) -> Found:
    behind = [place for place in places if place.lag]
    not_owned = _not_owned(facts, behind)
    if not_owned:
        return Found(Cause.NOT_OWNED, not_owned, len(places) - len(not_owned))
    hot = _hot(places)
    if hot is not None:
        return Found(Cause.HOT_PARTITION, (hot,), len(places) - 1)
    growing = [place for place in places if _grows(place, rules)]
    known = [place for place in places if place.growth is not None]
    rest = len(known) - len(growing)
    if growing and rest:
        if _are_all_of_one(growing, places) and facts.count > 1:
            return Found(Cause.SLOW_MEMBER, tuple(growing), rest)
        if len(growing) <= rest:
            return Found(Cause.SKEWED, tuple(growing), rest)
    few = facts.count < standing.partitions
    return Found(Cause.TOO_FEW_MEMBERS if few else Cause.TOO_SLOW)


def _not_owned(facts: GroupFacts, places: Sequence[Place]) -> tuple[Place, ...]:
    """Those that nobody has, while the group hands partitions out to its members.

    Members that take partitions by themselves (`assign`) own none as brokers see it, and while a
    group rebalances nobody does: then nothing is said.
    """
    hands_out = any(place.owner is not None for place in facts.places)
    if not hands_out or is_rebalancing(facts.state):
        return ()
    return tuple(place for place in places if place.owner is None)


def _are_all_of_one(some: Sequence[Place], places: Sequence[Place]) -> bool:
    """Whether they are all that one member has of the topic, and more than one."""
    owners = {place.owner for place in some}
    if len(some) < 2 or len(owners) != 1 or None in owners:
        return False
    return {place.partition for place in places if place.owner in owners} == {
        place.partition for place in some
    }


def _hot(places: Sequence[Place]) -> Place | None:
    produced = [(place.produce_records_per_s or 0.0, place) for place in places]
    total = sum(rate for rate, _ in produced)
    lag = sum(place.lag or 0 for place in places)
    if len(places) < 2 or total <= 0 or lag <= 0:
        return None
    rate, busiest = max(produced, key=lambda each: each[0])
    is_hot = rate / total >= min(HOT_FAIR_SHARES / len(places), 0.9)
    return busiest if is_hot and (busiest.lag or 0) / lag >= HOT_LAG_SHARE else None


def _grows(place: Place, rules: Rules) -> bool:
    growth = place.growth
    if growth is None:
        return False
    produced = place.produce_records_per_s or 0.0
    return growth > max(rules.steady_records_per_s, produced * GROWING_SHARE)
