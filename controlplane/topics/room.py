"""How much disk a longer retention needs, and whether there is room for it. Pure.

Nothing that is under `retention.ms` for longer is deleted meanwhile, so a log grows by what is
written: at most for as long as the lease lasts, and at most up to what the longer retention holds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from controlplane.gateway.types import TP, LogDirSpace, ReplicaSize

KEPT_FREE = 0.10
"""The share of a volume that a lease leaves free."""
RATE_WINDOWS_MS = (600_000, 3_600_000, 86_400_000)
"""Over which the rate of writing is measured; the fastest counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """`keep_ms` for `for_s`; `retention_bytes` -1: unlimited; null: not known."""

    keep_ms: int
    for_s: int
    retention_bytes: int | None
    segment_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """What is known of a partition's log; null: not known.

    `written` is records by window of RATE_WINDOWS_MS.
    """

    size_bytes: int | None
    records: int | None
    written: Mapping[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskRow:
    """One log directory that holds replicas of the topic. Null: not known.

    `fits` null: nobody can say.
    """

    broker: int
    log_dir: str
    held_bytes: int
    bytes_at_end: int | None
    total_bytes: int | None
    usable_bytes: int | None
    usable_at_end: int | None
    fits: bool | None


def rate_bytes_per_s(log: Log) -> float | None:
    """The fastest of the windows, by the timestamps of the records; None: not known."""
    if log.size_bytes is None or log.records is None or not log.written:
        return None
    if not log.records:
        return 0.0
    record_bytes = log.size_bytes / log.records
    return max(
        records * record_bytes / (window_ms / 1000) for window_ms, records in log.written.items()
    )


def size_at_end(size_bytes: int, rate: float | None, wanted: Wanted) -> int | None:
    """Upper bound of a replica's size when the lease ends; None: the rate is not known."""
    bounds = []
    if rate is not None:
        grown = size_bytes + rate * wanted.for_s
        full = rate * wanted.keep_ms / 1000 + wanted.segment_bytes
        bounds.append(min(grown, max(size_bytes, full)))
    if wanted.retention_bytes is not None and wanted.retention_bytes >= 0:
        bounds.append(max(size_bytes, wanted.retention_bytes + wanted.segment_bytes))
    return int(min(bounds)) if bounds else None


def cut_by_size(rates: Iterable[float | None], wanted: Wanted) -> bool:
    """Whether `retention.bytes` deletes before the wanted time is over."""
    if wanted.retention_bytes is None or wanted.retention_bytes < 0:
        return False
    return any(
        rate is not None and rate * wanted.keep_ms / 1000 > wanted.retention_bytes for rate in rates
    )


def disk_rows(
    replicas: Sequence[ReplicaSize],
    rates: Mapping[TP, float | None],
    spaces: Sequence[LogDirSpace],
    hosts: Mapping[int, str],
    wanted: Wanted,
    *,
    bound_bytes: int | None = None,
) -> list[DiskRow]:
    """One row a log directory that holds replicas of the topic.

    Directories of one host with the same size are taken to share a volume: what grows on one of
    them is missing on the others.

    `rates` are bytes a second by partition, None where not known; `hosts` is by broker id;
    `bound_bytes` is what the topic may hold at most in one directory at the end.
    """
    at: dict[tuple[int, str], list[ReplicaSize]] = {}
    for replica in replicas:
        at.setdefault((replica.broker, replica.log_dir), []).append(replica)
    space = {(row.broker, row.log_dir): row for row in spaces}
    ends = {key: _sum_at_end(rows, rates, wanted) for key, rows in at.items()}
    more: dict[tuple[str, int | None], int | None] = {}
    for key, rows in at.items():
        volume = _volume(key, space.get(key), hosts)
        before, end = more.get(volume, 0), ends[key]
        held = sum(row.size_bytes for row in rows)
        more[volume] = None if before is None or end is None else before + end - held
    return [
        _row(
            key,
            held=sum(row.size_bytes for row in rows),
            end=ends[key],
            space=space.get(key),
            more=more[_volume(key, space.get(key), hosts)],
            bound_bytes=bound_bytes,
        )
        for key, rows in sorted(at.items())
    ]


def _volume(
    key: tuple[int, str], space: LogDirSpace | None, hosts: Mapping[int, str]
) -> tuple[str, int | None]:
    broker, log_dir = key
    if space is None or space.total_bytes is None:
        return f"{broker}:{log_dir}", None
    return hosts.get(broker, str(broker)), space.total_bytes


def _sum_at_end(
    rows: Sequence[ReplicaSize], rates: Mapping[TP, float | None], wanted: Wanted
) -> int | None:
    total = 0
    for row in rows:
        end = size_at_end(row.size_bytes, rates.get(row.tp), wanted)
        if end is None:
            return None
        total += end
    return total


def _row(
    key: tuple[int, str],
    *,
    held: int,
    end: int | None,
    space: LogDirSpace | None,
    more: int | None,
    bound_bytes: int | None,
) -> DiskRow:
    total = space.total_bytes if space else None
    usable = space.usable_bytes if space else None
    usable_at_end = None if usable is None or more is None else usable - more
    by_bound = None if bound_bytes is None or end is None else end <= bound_bytes
    by_disk = (
        None
        if total is None or usable_at_end is None
        else not more or usable_at_end >= total * KEPT_FREE
    )
    said = [answer for answer in (by_bound, by_disk) if answer is not None]
    return DiskRow(
        broker=key[0],
        log_dir=key[1],
        held_bytes=held,
        bytes_at_end=end,
        total_bytes=total,
        usable_bytes=usable,
        usable_at_end=usable_at_end,
        fits=all(said) if said else None,
    )
