"""Two looks at a cluster → what went in and out a second meanwhile. Pure.

Records in are by how much log ends rose, records out by how much commits of consumer groups did.
Bytes in are by how much the leader's log grew; where something was deleted from it meanwhile, the
records by the mean size of those that it holds, and so are bytes out. What fell (a truncation, a
topic made anew, an offset reset) has no rate, nor has what was not seen at both ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from controlplane.analytics.slices import Sample
from controlplane.gateway.types import TP

GAP_MAX_S = 90.0
"""Between two looks; over a longer time the mean would hide what happened."""
GAP_MIN_S = 1.0
RATE_MAX = 1e30
"""What brokers say may be anything; more is no rate."""

Key = tuple[Any, ...]
"""("c",), ("b", broker), ("t", topic), ("g", group, topic), ("p", topic, partition)."""


class Rates(NamedTuple):
    """A second; null: not known. A sum of partitions is of the `known` share of them (0 to 1)."""

    records_in: float | None = None
    bytes_in: float | None = None
    records_out: float | None = None
    bytes_out: float | None = None
    known: float = 0.0


def rates_of(values: Sequence[float | None], known: float) -> Rates:
    """In the order of the fields."""
    records_in, bytes_in, records_out, bytes_out = values
    return Rates(records_in, bytes_in, records_out, bytes_out, known)


class LogAt(NamedTuple):
    """One partition's log at one instant; null: nobody said."""

    leader: int | None
    start: int | None
    end: int | None
    size: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions:
    """Where everything stood. Topics are with their ids: one that is made anew is another one."""

    ts_ms: int
    ids: Mapping[str, str]
    logs: Mapping[str, Mapping[int, LogAt]]
    commits: Mapping[str, Mapping[str, Mapping[int, int]]] = field(default_factory=dict)


def positions(sample: Sample) -> Positions:
    """Of a sample; offsets below 0 and sizes of other replicas than the leader's are none."""
    sizes = {(size.tp, size.broker): size.size_bytes for size in sample.sizes if not size.is_future}
    logs: dict[str, dict[int, LogAt]] = {}
    for topic in sample.topics:
        found = logs.setdefault(topic.name, {})
        for part in topic.partitions:
            tp = TP(topic.name, part.partition)
            found[part.partition] = LogAt(
                leader=part.leader if part.leader is not None and part.leader >= 0 else None,
                start=_offset(sample.log_starts, tp),
                end=_offset(sample.log_ends, tp),
                size=sizes.get((tp, -1 if part.leader is None else part.leader)),
            )
    commits: dict[str, dict[str, dict[int, int]]] = {}
    for group, committed in sample.committed.items():
        for tp, at in committed.items():
            if tp.topic in logs and at.offset >= 0:
                commits.setdefault(group, {}).setdefault(tp.topic, {})[tp.partition] = at.offset
    return Positions(
        ts_ms=sample.ts_ms,
        ids={topic.name: topic.topic_id or "" for topic in sample.topics},
        logs=logs,
        commits=commits,
    )


def _offset(found: Mapping[TP, Any], tp: TP) -> int | None:
    at = found.get(tp)
    return at.offset if at is not None and at.offset >= 0 else None


def rates_between(before: Positions, after: Positions) -> dict[Key, Rates] | None:
    """Of the cluster, each broker as leader, topic, group on a topic, and partition.

    None: the two looks are too far apart, or not in this order, for any rate. Whoever led a
    partition at one end alone is not known to have had its records.
    """
    span_s = (after.ts_ms - before.ts_ms) / 1000
    if not GAP_MIN_S <= span_s <= GAP_MAX_S:
        return None
    read = dict(_read(before, after))
    sums: dict[Key, _Sum] = {("c",): _Sum()}
    found: dict[Key, Rates] = {}
    for topic, logs in after.logs.items():
        earlier = before.logs.get(topic, {}) if is_same(before, after, topic) else {}
        of_topic = sums.setdefault(("t", topic), _Sum())
        for partition, log in logs.items():
            was = earlier.get(partition)
            out = read.get((topic, partition), 0)
            one = _of_partition(was, log, out, span_s)
            found["p", topic, partition] = one
            of_topic.add(one)
            sums["c",].add(one)
            if log.leader is not None:
                led = sums.setdefault(("b", log.leader), _Sum())
                led.add(one if was is not None and was.leader == log.leader else Rates())
    found |= {key: each.rates() for key, each in sums.items()}
    for group, topics in after.commits.items():
        for topic in topics:
            found["g", group, topic] = _of_group(before, after, group, topic, span_s)
    return found


def is_same(before: Positions, after: Positions, topic: str) -> bool:
    """A topic that was made anew is another one."""
    return before.ids.get(topic) == after.ids[topic]


def _read(before: Positions, after: Positions) -> Iterator[tuple[tuple[str, int], int | None]]:
    """By partition, records that all groups moved on by; null where one of them is not known."""
    summed: dict[tuple[str, int], int | None] = {}
    for group, topics in after.commits.items():
        for topic, partitions in topics.items():
            for partition in partitions:
                step = _committed_step(before, after, group, topic, partition)
                sum_so_far = summed.get((topic, partition), 0)
                both = None if step is None or sum_so_far is None else sum_so_far + step
                summed[topic, partition] = both
    yield from summed.items()


def _committed_step(
    before: Positions, after: Positions, group: str, topic: str, partition: int
) -> int | None:
    if not is_same(before, after, topic):
        return None
    was = before.commits.get(group, {}).get(topic, {}).get(partition)
    now = after.commits[group][topic][partition]
    return now - was if was is not None and now >= was else None


def _of_partition(was: LogAt | None, log: LogAt, out: int | None, span_s: float) -> Rates:
    records_in = _risen(was.end if was else None, log.end)
    if records_in is None:
        return Rates()
    size = _record_bytes(log)
    return Rates(
        records_in=_a_second(records_in, span_s),
        bytes_in=_a_second(_bytes_in(was, log, records_in, size), span_s),
        records_out=_a_second(out, span_s),
        bytes_out=_a_second(_times(out, size), span_s),
        known=1.0,
    )


def _of_group(before: Positions, after: Positions, group: str, topic: str, span_s: float) -> Rates:
    """In: what was written to the partitions that it commits on."""
    total = _Sum()
    earlier = before.logs.get(topic, {}) if is_same(before, after, topic) else {}
    for partition in after.commits[group][topic]:
        log = after.logs[topic].get(partition)
        step = _committed_step(before, after, group, topic, partition)
        if log is None or step is None:
            total.add(Rates())
            continue
        one = _of_partition(earlier.get(partition), log, step, span_s)
        # A commit is known even while the partition's leader is away.
        total.add(one._replace(records_out=_a_second(step, span_s), known=1.0))
    return total.rates()


def _bytes_in(was: LogAt | None, log: LogAt, records: int, size: float | None) -> float | None:
    is_untouched = was is not None and was.start == log.start and log.start is not None
    grown = _risen(was.size if was else None, log.size)
    if is_untouched and grown is not None and (records > 0 or grown == 0):
        return grown
    return _times(records, size)


def _record_bytes(log: LogAt) -> float | None:
    if log.size is None or log.start is None or log.end is None or log.end <= log.start:
        return None
    return log.size / (log.end - log.start)


def _times(records: int | None, size: float | None) -> float | None:
    if records == 0:
        return 0
    return None if records is None or size is None else records * size


def _risen(was: int | None, now: int | None) -> int | None:
    return now - was if was is not None and now is not None and now >= was else None


def _a_second(count: float | None, span_s: float) -> float | None:
    if count is None:
        return None
    rate = count / span_s
    return rate if 0 <= rate <= RATE_MAX else None


@dataclass(slots=True)
class _Sum:
    """Of what is known; null while nothing is."""

    totals: list[float | None] = field(default_factory=lambda: [None] * 4)
    parts: int = 0
    known: int = 0

    def add(self, one: Rates) -> None:
        self.parts += 1
        self.known += one.known > 0
        for at, value in enumerate(one[:4]):
            if value is not None:
                self.totals[at] = (self.totals[at] or 0) + value

    def rates(self) -> Rates:
        return rates_of(self.totals, self.known / self.parts if self.parts else 0.0)


def summed(of: Iterable[Rates]) -> Rates:
    """Several series as one, of the known share of them."""
    each = list(of)
    total = _Sum()
    for one in each:
        total.add(one)
    share = sum(one.known for one in each) / len(each) if each else 0.0
    return total.rates()._replace(known=share)
