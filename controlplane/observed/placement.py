"""What brokers lead and hold, by topic. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

ROWS_MAX = 200
"""Topics that are named, those in trouble first; the numbers are of all."""
Row = dict[str, Any]


class Placed(NamedTuple):
    """A partition; `size_bytes` of its leader's log, None: not known."""

    leader: int | None
    replicas: Sequence[int]
    isr: Sequence[int]
    size_bytes: int | None


Topics = Iterable[tuple[str, Iterable[Placed]]]


def placed(detail: Mapping[str, Any]) -> Iterable[Placed]:
    """The partitions of an observed topic; see `rows.topic_content`."""
    for _, leader, _, replicas, isr, _, _, held in detail["partitions"]:
        yield Placed(leader, replicas, isr, held)


def on_broker(broker: int, topics: Topics, *, rows_max: int = ROWS_MAX) -> Row:
    """{leads, follows, out_of_sync, offline, preferred_elsewhere, topics, rows}, of partitions that
    have a replica there; `preferred_elsewhere` those that it should lead and somebody else does,
    `topics` how many there are, rows {topic, leads, follows, out_of_sync, offline, size_bytes}:
    bytes of the logs that it leads, null while one of them is not known.
    """
    found = _gathered(topics, only=broker).get(broker, _Holding())
    return found.shown(rows_max)


def by_broker(topics: Topics, *, rows_max: int = ROWS_MAX) -> dict[int, Row]:
    """The same of each broker that holds anything."""
    return {broker: each.shown(rows_max) for broker, each in _gathered(topics, only=None).items()}


@dataclass(slots=True)
class _Share:
    """Of one topic on one broker."""

    leads: int = 0
    follows: int = 0
    out_of_sync: int = 0
    offline: int = 0
    size_bytes: int | None = 0

    def order(self, topic: str) -> tuple[Any, ...]:
        return -self.offline, -self.out_of_sync, -self.leads, -self.follows, topic


@dataclass(slots=True)
class _Holding:
    """Of one broker."""

    shares: dict[str, _Share] = field(default_factory=dict)
    preferred_elsewhere: int = 0

    def shown(self, rows_max: int) -> Row:
        shares = self.shares.values()
        worst = sorted(self.shares.items(), key=lambda each: each[1].order(each[0]))
        return {
            "leads": sum(share.leads for share in shares),
            "follows": sum(share.follows for share in shares),
            "out_of_sync": sum(share.out_of_sync for share in shares),
            "offline": sum(share.offline for share in shares),
            "preferred_elsewhere": self.preferred_elsewhere,
            "topics": len(self.shares),
            "rows": [
                {
                    "topic": topic,
                    "leads": share.leads,
                    "follows": share.follows,
                    "out_of_sync": share.out_of_sync,
                    "offline": share.offline,
                    "size_bytes": share.size_bytes,
                }
                for topic, share in worst[:rows_max]
            ],
        }


def _gathered(topics: Topics, *, only: int | None) -> dict[int, _Holding]:
    holdings: dict[int, _Holding] = {}
    for name, partitions in topics:
        for part in partitions:
            for broker in part.replicas:
                if only is None or broker == only:
                    _add(holdings.setdefault(broker, _Holding()), broker, name, part)
    return holdings


def _add(holding: _Holding, broker: int, topic: str, part: Placed) -> None:
    share = holding.shares.get(topic)
    if share is None:
        share = holding.shares[topic] = _Share()
    leader = part.leader
    if leader == broker:
        share.leads += 1
        size, more = share.size_bytes, part.size_bytes
        share.size_bytes = None if size is None or more is None else size + more
    else:
        share.follows += 1
        share.offline += leader is None
        if leader is not None and part.replicas[0] == broker:
            holding.preferred_elsewhere += 1
    share.out_of_sync += broker not in part.isr
