"""One look at a cluster, in a handful of bulk calls.

The clients ask each broker once per call, for all its partitions. What changes rarely is kept:
topic configurations for a minute, the first record's timestamp while the log start stands.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from controlplane.analytics.slices import Sample, number
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.types import (
    EARLIEST,
    LATEST,
    TP,
    ConfigEntry,
    OffsetAt,
    ReplicaSize,
    TopicDescription,
)

CONFIGS_KEPT_S = 60.0
RETENTION_CHECK = "log.retention.check.interval.ms"
FIRST_RECORD = 0
"""ListOffsets by this timestamp answers with the first record and its own timestamp."""


class SampleLateError(Exception):
    """The cluster answers too slowly for a sample that is of one instant."""


@dataclass(slots=True)
class Sampler:
    """Remembers between looks; one per cluster and process."""

    clock_s: Callable[[], float] = time.monotonic
    now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    _configs: Mapping[str, list[ConfigEntry]] = field(default_factory=dict)
    _configs_read_s: float = -CONFIGS_KEPT_S
    _retention_check_ms: int | None = None
    _oldest: dict[TP, tuple[int, int]] = field(default_factory=dict)

    def sample(self, gateway: ClusterGateway, *, budget_s: float) -> Sample:
        """Group offsets first, then log ends.

        Raises:
            GatewayError: the cluster refused or did not answer.
            SampleLateError: the calls took longer than `budget_s` together.
        """
        ends_at_s = self.clock_s() + budget_s

        def in_time() -> None:
            if self.clock_s() > ends_at_s:
                raise SampleLateError(f"the cluster took longer than {budget_s:.0f} s to answer")

        names = [listing.group for listing in gateway.list_groups()]
        in_time()
        committed = gateway.group_offsets(names)
        in_time()
        ts_ms = self.now_ms()
        topics = tuple(gateway.list_topics())
        tps = [TP(topic.name, part.partition) for topic in topics for part in topic.partitions]
        log_ends = gateway.offsets(dict.fromkeys(tps, LATEST))
        in_time()
        log_starts = gateway.offsets(dict.fromkeys(tps, EARLIEST))
        in_time()
        sizes = _sizes(gateway)
        in_time()
        groups = gateway.describe_groups([name for name in names if committed.get(name)])
        in_time()
        return Sample(
            ts_ms=ts_ms,
            topics=topics,
            log_starts=log_starts,
            log_ends=log_ends,
            sizes=sizes,
            oldest_ts_ms=self._first_records(gateway, log_starts, log_ends),
            configs=self._topic_configs(gateway, topics),
            retention_check_ms=self._retention_check_ms,
            groups=groups,
            committed=committed,
        )

    def _first_records(
        self,
        gateway: ClusterGateway,
        starts: Mapping[TP, OffsetAt],
        ends: Mapping[TP, OffsetAt],
    ) -> dict[TP, int]:
        filled = {
            tp: at.offset for tp, at in starts.items() if tp in ends and ends[tp].offset > at.offset
        }
        kept = {
            tp: self._oldest[tp]
            for tp, start in filled.items()
            if tp in self._oldest and self._oldest[tp][0] == start
        }
        asked = gateway.offsets({tp: FIRST_RECORD for tp in filled if tp not in kept})
        for tp, at in asked.items():
            if at.offset >= 0 and at.timestamp_ms >= 0:
                kept[tp] = (filled[tp], at.timestamp_ms)
        self._oldest = kept
        return {tp: timestamp_ms for tp, (_, timestamp_ms) in kept.items()}

    def _topic_configs(
        self, gateway: ClusterGateway, topics: Iterable[TopicDescription]
    ) -> Mapping[str, list[ConfigEntry]]:
        topics = tuple(topics)
        wanted = {topic.name for topic in topics}
        fresh = self.clock_s() - self._configs_read_s < CONFIGS_KEPT_S
        if not fresh or not wanted <= self._configs.keys():
            self._configs = gateway.topic_configs(wanted)
            self._retention_check_ms = _retention_check_ms(gateway, topics)
            self._configs_read_s = self.clock_s()
        return self._configs


def _retention_check_ms(gateway: ClusterGateway, topics: Iterable[TopicDescription]) -> int | None:
    """The longest of all leaders; None unless each of them said it."""
    parts = (part for topic in topics for part in topic.partitions)
    leaders = {part.leader for part in parts if part.leader is not None and part.leader >= 0}
    try:
        found = gateway.broker_configs(leaders, [RETENTION_CHECK]) if leaders else {}
    except GatewayError:
        return None
    each = [number(found.get(leader, ()), RETENTION_CHECK) for leader in leaders]
    known = [ms for ms in each if ms is not None]
    return max(known) if known and len(known) == len(leaders) else None


def _sizes(gateway: ClusterGateway) -> tuple[ReplicaSize, ...]:
    """Sizes are worth having, not worth losing the offsets for."""
    try:
        return tuple(gateway.log_dirs())
    except GatewayError:
        return ()
