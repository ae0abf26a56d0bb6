"""What a host's agent says that the host has left, as far as it can be believed. Pure.

An agent may be wrong, old or hostile: every figure is of a known type and within bounds, or null.
The report's age is ZooKeeper's word, not the agent's.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from controlplane.clusters.reports import object_of, text_of, whole_of
from controlplane.common.words import counted

REPORT_BYTES_MAX = 65_536
"""A longer report is not read."""
BYTES_MAX = 2**60
CORES_MAX = 65_536
LOAD_MAX = 1e6
PORTS_MAX = 2_000
LABELS_MAX = 20
DIRECTORIES_MAX = 16
PATH_MAX = 300
PROBLEM_MAX = 200
MAIN = "main"
"""The name of the directory that every broker has; others have names that operators gave them."""
_LABEL_KEY = re.compile(r"[a-z0-9](?:[a-z0-9._/-]{0,61}[a-z0-9])?")
_LABEL_VALUE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._ :/-]{0,61}[A-Za-z0-9])?")


_DIRECTORY = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryRoom:
    """One data directory of a host; bytes, null where not known. `volume` is the same for those on
    one file system. `problem` is a sentence: why brokers cannot use it.
    """

    name: str
    path: str = ""
    total_bytes: int | None = None
    free_bytes: int | None = None
    volume: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """Bytes, CPUs, the load of the last minute; null where the agent does not say, or not credibly.

    `disk_…` are of the directory in which new brokers begin, `directories` all of them; none of an
    agent that knows of one directory alone.
    `ports_busy` are those of the host's range that some process listens on. `problem` says in a
    sentence why nothing is known; `reported_at_ms` is when the report was written.
    """

    disk_total_bytes: int | None = None
    disk_free_bytes: int | None = None
    memory_total_bytes: int | None = None
    memory_free_bytes: int | None = None
    cores: int | None = None
    load: float | None = None
    ports_busy: tuple[int, ...] | None = None
    directories: tuple[DirectoryRoom, ...] = ()
    reported_at_ms: int | None = None
    problem: str = ""

    def age_s(self, now_ms: int) -> float | None:
        """Seconds since the report; never below 0, as two machines' clocks differ."""
        if self.reported_at_ms is None:
            return None
        return max(0.0, (now_ms - self.reported_at_ms) / 1000)

    def directory(self, name: str) -> DirectoryRoom | None:
        return next((each for each in self.directories if each.name == name), None)

    @property
    def disk_free_share(self) -> float | None:
        if self.disk_free_bytes is None or not self.disk_total_bytes:
            return None
        return self.disk_free_bytes / self.disk_total_bytes

    @property
    def load_per_core(self) -> float | None:
        if self.load is None or not self.cores:
            return None
        return self.load / self.cores


NEVER = Capacity(problem="Its agent has reported no capacity.")


def parse_capacity(data: bytes, *, reported_at_ms: int | None = None) -> Capacity:
    """Whatever the agent may have written, the answer has the types that are promised."""
    row = object_of(data)
    if row is None:
        return Capacity(reported_at_ms=reported_at_ms, problem="Its agent's report cannot be read.")
    disk_total, disk_free = _pair(row, "disk_total_bytes", "disk_free_bytes")
    memory_total, memory_free = _pair(row, "memory_total_bytes", "memory_free_bytes")
    return Capacity(
        disk_total_bytes=disk_total,
        disk_free_bytes=disk_free,
        memory_total_bytes=memory_total,
        memory_free_bytes=memory_free,
        cores=_whole(row, "cores", 1, CORES_MAX),
        load=_load(row.get("load")),
        ports_busy=_ports(row.get("ports_busy")),
        directories=_directories(row.get("directories")),
        reported_at_ms=reported_at_ms,
    )


def too_long(length: int, *, reported_at_ms: int | None) -> Capacity:
    """Of a report that nobody reads."""
    return Capacity(
        reported_at_ms=reported_at_ms,
        problem=f"Its agent's report has {counted(length, 'byte')};"
        f" at most {REPORT_BYTES_MAX} are read.",
    )


def parse_labels(row: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Those that are labels, the first of them by name; the rest is left out."""
    given = row.get("labels")
    if not isinstance(given, dict):
        return ()
    found = sorted(
        (key, value)
        for key, value in given.items()
        if isinstance(value, str) and _LABEL_KEY.fullmatch(key) and _LABEL_VALUE.fullmatch(value)
    )
    return tuple(found[:LABELS_MAX])


def _pair(row: dict[str, Any], total_name: str, free_name: str) -> tuple[int | None, int | None]:
    """All and free; of two that contradict each other neither is believed."""
    total = _whole(row, total_name, 1, BYTES_MAX)
    free = _whole(row, free_name, 0, BYTES_MAX)
    return (
        (None, None) if total is not None and free is not None and free > total else (total, free)
    )


def _directories(value: Any) -> tuple[DirectoryRoom, ...]:
    """Those that can be meant, each name once."""
    found: dict[str, DirectoryRoom] = {}
    for row in (value if isinstance(value, list) else [])[:DIRECTORIES_MAX]:
        name = row.get("name") if isinstance(row, dict) else None
        if not isinstance(name, str) or not is_directory_name(name) or name in found:
            continue
        total, free = _pair(row, "total_bytes", "free_bytes")
        found[name] = DirectoryRoom(
            name=name,
            path=text_of(row, "path")[:PATH_MAX],
            total_bytes=total,
            free_bytes=free,
            volume=text_of(row, "volume")[:PROBLEM_MAX],
            problem=text_of(row, "problem")[:PROBLEM_MAX],
        )
    return tuple(found.values())


def is_directory_name(value: Any) -> bool:
    return isinstance(value, str) and _DIRECTORY.fullmatch(value) is not None


def _whole(row: dict[str, Any], name: str, least: int, most: int) -> int | None:
    value = whole_of(row, name)
    return value if value is not None and least <= value <= most else None


def _load(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # An int may be too long for a float.
    if not 0 <= value <= LOAD_MAX or not math.isfinite(value):
        return None
    return round(float(value), 2)


def _ports(value: Any) -> tuple[int, ...] | None:
    if not isinstance(value, list) or len(value) > PORTS_MAX:
        return None
    if not all(type(port) is int and 0 < port < 65_536 for port in value):
        return None
    return tuple(sorted(set(value)))
