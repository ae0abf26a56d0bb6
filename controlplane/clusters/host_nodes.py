"""What stands in nodes that agents write, read within bounds and as far as it can be meant."""

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kazoo.exceptions import NoNodeError

from controlplane.clusters.capacity import (
    NEVER,
    REPORT_BYTES_MAX,
    Capacity,
    parse_capacity,
    too_long,
)
from controlplane.clusters.versions import NOT_KNOWN, Installed, parse_versions
from controlplane.clusters.zookeeper_tree import Patience

if TYPE_CHECKING:
    from kazoo.client import KazooClient
    from kazoo.protocol.states import ZnodeStat


def read_short(
    client: "KazooClient", paths: Sequence[str], wait: Patience
) -> dict[str, tuple[bytes | None, "ZnodeStat | None"]]:
    """What stands in nodes that agents write, at most `REPORT_BYTES_MAX` of each.

    One that is longer has its stat alone: an agent could write megabytes.
    """
    stats = [(path, client.exists_async(path)) for path in paths]
    sized = [(path, answer.get(timeout=wait.left_s())) for path, answer in stats]
    reads = [
        (path, stat, client.get_async(path) if _is_short(stat) else None) for path, stat in sized
    ]
    found: dict[str, tuple[bytes | None, ZnodeStat | None]] = {}
    for path, stat, answer in reads:
        found[path] = (None, stat)
        if answer is not None:
            with contextlib.suppress(NoNodeError):
                data, now = answer.get(timeout=wait.left_s())
                # It may have grown between the two questions.
                found[path] = (data if _is_short(now) else None, now)
    return found


def installed(data: bytes | None, stat: "ZnodeStat | None") -> Installed:
    if data is None or stat is None:
        return NOT_KNOWN
    return parse_versions(data, reported_at_ms=stat.mtime)


def capacity(data: bytes | None, stat: "ZnodeStat | None") -> Capacity:
    if stat is None:
        return NEVER
    if data is None:
        return too_long(stat.dataLength, reported_at_ms=stat.mtime)
    return parse_capacity(data, reported_at_ms=stat.mtime)


def _is_short(stat: "ZnodeStat | None") -> bool:
    return stat is not None and stat.dataLength <= REPORT_BYTES_MAX
