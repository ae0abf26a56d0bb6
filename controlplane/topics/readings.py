"""What a plan reads of a topic's logs: how fast they grow, and where there is room."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.readings import ClusterReader, Gap
from controlplane.gateway.types import TP, LogDirSpace, TopicDescription
from controlplane.topics.room import (
    RATE_WINDOWS_MS,
    DiskRow,
    Log,
    Wanted,
    cut_by_size,
    disk_rows,
    rate_bytes_per_s,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """`gaps`: what nobody could say, as phrases."""

    rows: list[DiskRow]
    is_cut_by_size: bool
    gaps: tuple[str, ...]


def room_for(
    gateway: ClusterGateway,
    topic: TopicDescription,
    wanted: Wanted,
    *,
    now_ms: int,
    bound_bytes: int | None,
) -> Room:
    """The disk that a lease takes by the directories that hold the topic.

    Raises:
        GatewayError: not even the brokers' names can be read.
    """
    reader = ClusterReader(gateway)
    nodes = {node.id: node.host for node in gateway.describe_cluster().brokers}
    holders = sorted({broker for part in topic.partitions for broker in part.replicas})
    away = [broker for broker in holders if broker not in nodes]
    replicas = reader.replicas([broker for broker in holders if broker in nodes], [topic.name])
    spaces: list[LogDirSpace] = []
    gaps = [*replicas.gaps, *(Gap(f"broker {broker} is not there", (broker,)) for broker in away)]
    for broker in holders:
        if broker in nodes:
            answer = reader.ask(broker, partial(gateway.log_dir_space, [broker]))
            if isinstance(answer, Gap):
                gaps.append(answer)
            else:
                spaces += [row for row in answer if not row.error]
    rates, unsaid = _rates(reader, topic, now_ms)
    rows = disk_rows(replicas.known, rates, spaces, nodes, wanted, bound_bytes=bound_bytes)
    said = dict.fromkeys(gap.reason for gap in (*gaps, *unsaid))
    if any(rate is None for rate in rates.values()):
        said["how fast it is written to is not known of every partition"] = None
    if any(row.total_bytes is None for row in rows):
        said["brokers do not say how large their disks are"] = None
    return Room(rows=rows, is_cut_by_size=cut_by_size(rates.values(), wanted), gaps=tuple(said))


def _rates(
    reader: ClusterReader, topic: TopicDescription, now_ms: int
) -> tuple[dict[TP, float | None], list[Gap]]:
    """Bytes a second by partition; None: not known."""
    bounds = reader.log_bounds([topic])
    sizes = reader.leader_bytes([topic])
    gaps: list[Gap] = [*bounds.gaps, *sizes.gaps]
    begins = {}
    for window_ms in RATE_WINDOWS_MS:
        found = reader.offsets_at([topic], now_ms - window_ms)
        begins[window_ms] = found.known
        gaps += found.gaps
    rates = {}
    for tp in _partitions(topic):
        bound = bounds.known.get(tp)
        start, end = bound if bound is not None else (0, 0)
        written = {
            window_ms: 0 if known[tp] < 0 else max(0, end - max(known[tp], start))
            for window_ms, known in begins.items()
            if tp in known
        }
        log = Log(
            size_bytes=sizes.known.get(tp),
            records=None if bound is None else end - start,
            written=written,
        )
        rates[tp] = rate_bytes_per_s(log)
    return rates, gaps


def _partitions(topic: TopicDescription) -> Iterable[TP]:
    return (TP(topic.name, part.partition) for part in topic.partitions)
