"""What the fake cluster is made of: partitions, topics, and what follows from them alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from controlplane.gateway.record_port import Isolation, Record
from controlplane.gateway.types import (
    EARLIEST,
    LATEST,
    TP,
    GroupDescription,
    OffsetAt,
    ProducerState,
    ReplicaSize,
)

TOPIC_DEFAULTS = {
    "cleanup.policy": "delete",
    "retention.ms": "604800000",
    "retention.bytes": "-1",
    "segment.bytes": "1073741824",
    "min.insync.replicas": "2",
    "max.message.bytes": "1048588",
    "unclean.leader.election.enable": "false",
    "follower.replication.throttled.replicas": "",
    "leader.replication.throttled.replicas": "",
}
BYTES_PER_RECORD = 100
DISK = (1_000_000_000_000, 600_000_000_000)
"""Bytes of the volume that a broker has, and those that are free."""
FIRST_DIR = "/data"


@dataclass(slots=True)
class FakePartition:
    replicas: tuple[int, ...]
    log_start: int = 0
    log_end: int = 0
    timestamps_ms: list[int] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    target: tuple[int, ...] | None = None
    polls_left: int = 0
    out_of_sync: frozenset[int] = frozenset()
    last_stable: int | None = None
    """Where the first open transaction begins; None: none is open."""
    aborted: set[int] = field(default_factory=set)
    """Offsets of records whose transaction was aborted."""
    led_by: int | None = None
    """Who leads it while that is not its first replica that is there."""
    producers: dict[int, ProducerState] = field(default_factory=dict)
    lags: dict[int, int] = field(default_factory=dict)
    """Records that a replica is behind, by broker."""
    future: dict[int, str] = field(default_factory=dict)
    """The log directory that a replica moves to, by broker."""
    lies_in: dict[int, str] = field(default_factory=dict)
    """The log directory of a replica, by broker, where it is not the first."""

    @property
    def size_bytes(self) -> int:
        return (self.log_end - self.log_start) * BYTES_PER_RECORD


@dataclass(slots=True)
class FakeTopic:
    topic_id: str
    partitions: list[FakePartition]
    configs: dict[str, str]


def replica_sizes(tp: TP, part: FakePartition) -> list[ReplicaSize]:
    """Its replicas, those that it moves to with half of it so far, and future ones likewise."""
    found = []
    for broker in dict.fromkeys((*part.replicas, *(part.target or ()))):
        lag = part.lags.get(broker, 0)
        whole = part.size_bytes if broker in part.replicas else part.size_bytes // 2
        size = whole - lag * BYTES_PER_RECORD
        held = ReplicaSize(
            broker=broker,
            log_dir=part.lies_in.get(broker, FIRST_DIR),
            tp=tp,
            size_bytes=size,
            offset_lag=lag,
        )
        found.append(held)
        if broker in part.future:
            moving = replace(
                held, log_dir=part.future[broker], size_bytes=size // 2, is_future=True
            )
            found.append(moving)
    return found


def end_for(part: FakePartition, isolation: Isolation) -> int:
    is_open = part.last_stable is not None and isolation is Isolation.READ_COMMITTED
    return part.last_stable if is_open and part.last_stable is not None else part.log_end


def offset_at(
    part: FakePartition, spec: int, isolation: Isolation = Isolation.READ_UNCOMMITTED
) -> OffsetAt:
    if spec == EARLIEST:
        return OffsetAt(offset=part.log_start)
    if spec == LATEST:
        return OffsetAt(offset=end_for(part, isolation))
    for offset, at_ms in enumerate(part.timestamps_ms[: end_for(part, isolation)]):
        if at_ms >= spec and offset >= part.log_start:
            return OffsetAt(offset=offset, timestamp_ms=at_ms)
    return OffsetAt(offset=-1)


def apply_changes(configs: dict[str, str], changes: Mapping[str, str | None]) -> None:
    for key, value in changes.items():
        if value is None:
            configs.pop(key, None)
        else:
            configs[key] = value


def dead_group(name: str) -> GroupDescription:
    return GroupDescription(
        group=name, state="Dead", protocol_type="", protocol="", coordinator=1, members=()
    )


def is_int(text: str) -> bool:
    return text.lstrip("-").isdigit()
