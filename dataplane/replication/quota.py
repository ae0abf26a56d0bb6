"""How much replication of throttled replicas a broker allows itself (KIP-73, Kafka 3.9).

There is one quota for what a broker sends as a leader and one for what it fetches as a follower.
Only replicas that the topic's list names are counted, and only those out of sync are held back:
that is the caller's part. What is over the bound is never shortened: it is counted, and the next
one waits until the rate is down to the bound again. So a batch larger than the bound gets through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from dataplane.replication.sampled_rate import SampledRate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataplane.ports.clock import Clock

UNLIMITED: Final = 2**63 - 1
"""The bound when nobody has set one, bytes per second."""

Indexes: TypeAlias = "frozenset[int] | None"
"""Indexes of partitions; None is all of the topic's."""


def throttled_here(listed: Iterable[str], broker_id: int) -> Indexes:
    """Which partitions a list of `partition:broker`, or `*`, names on this broker."""
    found = set()
    for item in listed:
        if item == "*":
            return None
        index, _, broker = item.partition(":")
        if broker and int(broker) == broker_id:
            found.add(int(index))
    return frozenset(found)


class ReplicationQuota:
    """The bound, the throttled partitions, and the rate of their bytes up to now."""

    __slots__ = ("_clock", "_rate", "_topics", "bound_bytes_per_s", "bytes_total", "is_active")

    def __init__(self, clock: Clock, *, samples: int, sample_ms: int) -> None:
        self._clock = clock
        self._rate = SampledRate(samples=samples, sample_ms=sample_ms)
        self._topics: dict[str, Indexes] = {}
        self.bound_bytes_per_s = UNLIMITED
        self.bytes_total = 0
        self.is_active = False
        """Whether any partition is throttled; lets hot paths skip the rest."""

    def throttle(self, topic: str, indexes: Indexes) -> None:
        """These partitions of the topic, instead of those before; an empty set is none."""
        if indexes is None or indexes:
            self._topics[topic] = indexes
        else:
            self._topics.pop(topic, None)
        self.is_active = bool(self._topics)

    def is_throttled(self, topic: str, index: int) -> bool:
        if topic not in self._topics:
            return False
        indexes = self._topics[topic]
        return indexes is None or index in indexes

    @property
    def is_exceeded(self) -> bool:
        return self.bytes_per_s > self.bound_bytes_per_s

    @property
    def bytes_per_s(self) -> float:
        return self._rate.per_second(self._clock.monotonic_ms())

    def record(self, size_bytes: int) -> None:
        """Bytes of a throttled partition went over the wire, in sync or not."""
        self._rate.record(size_bytes, self._clock.monotonic_ms())
        self.bytes_total += size_bytes
