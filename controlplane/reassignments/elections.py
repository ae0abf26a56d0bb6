"""Which partitions are led by another broker than they prefer, and what electing changes. Pure.

A partition prefers the first of its replicas. After a broker was away others lead its partitions
until somebody elects, or Kafka does by itself (`auto.leader.rebalance.enable`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from controlplane.gateway.types import TP, TopicDescription


@dataclass(frozen=True, slots=True, kw_only=True)
class Election:
    """One partition that gets another leader."""

    tp: TP
    before: int | None
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Elections:
    """`blocked` keep their leader: the preferred broker is not in sync, or not there.

    Attributes:
        leaders: by broker, how many partitions it leads before and after, of all topics.
    """

    wanted: tuple[Election, ...]
    blocked: tuple[Election, ...]
    leaders: dict[int, tuple[int, int]]


def elections(
    topics: Iterable[TopicDescription],
    live: Collection[int],
    *,
    only: Collection[str] | None = None,
    broker: int | None = None,
) -> Elections:
    """Of these topics, or all; of those that prefer `broker`, or any."""
    wanted, blocked = [], []
    before, after = Counter[int](), Counter[int]()
    named = None if only is None else set(only)
    for topic in topics:
        for part in topic.partitions:
            if part.leader is not None:
                before[part.leader] += 1
                after[part.leader] += 1
            preferred = part.replicas[0] if part.replicas else None
            if preferred is None or part.leader == preferred:
                continue
            if (named is not None and topic.name not in named) or broker not in (None, preferred):
                continue
            one = Election(tp=TP(topic.name, part.partition), before=part.leader, after=preferred)
            if preferred not in live or preferred not in part.isr:
                blocked.append(one)
                continue
            wanted.append(one)
            after[preferred] += 1
            if part.leader is not None:
                after[part.leader] -= 1
    brokers = sorted({*before, *after, *live})
    return Elections(
        wanted=tuple(sorted(wanted, key=lambda each: each.tp)),
        blocked=tuple(sorted(blocked, key=lambda each: each.tp)),
        leaders={each: (before[each], after[each]) for each in brokers},
    )


def cut(found: Elections, most: int) -> Elections:
    """The first so many, with the leaders that those alone change."""
    kept, rest = found.wanted[:most], found.wanted[most:]
    leaders = dict(found.leaders)
    for one in rest:
        for broker, by in ((one.after, -1), (one.before, +1)):
            if broker is not None:
                was, will = leaders[broker]
                leaders[broker] = (was, will + by)
    return Elections(wanted=kept, blocked=found.blocked, leaders=leaders)
