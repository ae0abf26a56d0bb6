"""What a host has and has left, as its agent tells the control plane every half a minute.

Each figure is of the moment and may be unknown (null): nothing here keeps a broker from running.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

from dataplane.ports.coordinator import CoordinatorError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from dataplane.agent.data_dirs import DataDir

log = logging.getLogger(__name__)

FORMAT = 1
EVERY_S = 30.0
PORTS_MAX = 2_000
"""Ports that are named as taken; a range with more is reported as unknown."""
MEMORY = Path("/proc/meminfo")
SOCKETS = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LISTENS = "0A"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryRoom:
    """One data directory. `volume` is the same for those that share a file system; `problem` a
    sentence: why brokers cannot use it.
    """

    name: str
    path: str
    total_bytes: int | None
    free_bytes: int | None
    volume: str | None
    problem: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """Bytes, CPUs that this process may use, load of the last minute; null where not known.

    `disk_…` are of the first directory, where new brokers begin; `directories` are all of them.
    `ports_busy` are those of the host's range that some process listens on.
    """

    disk_total_bytes: int | None
    disk_free_bytes: int | None
    memory_total_bytes: int | None
    memory_free_bytes: int | None
    cores: int | None
    load: float | None
    ports_busy: tuple[int, ...] | None
    directories: tuple[DirectoryRoom, ...] = ()

    def encode(self) -> bytes:
        return json.dumps({"v": FORMAT, **dataclasses.asdict(self)}).encode()


class CapacityReports:
    """Writes what `read` finds, at once and then every `every_s`, until it is closed."""

    def __init__(
        self,
        read: Callable[[], Capacity],
        write: Callable[[bytes], Awaitable[None]],
        *,
        every_s: float = EVERY_S,
    ) -> None:
        self._read = read
        self._write = write
        self._every_s = every_s
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(), name="capacity")

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            found = await asyncio.to_thread(self._read)
            try:
                await self._write(found.encode())
            except CoordinatorError as error:
                # The age of the last report says it; the next one is due soon.
                log.info("the host's capacity could not be written: %s", error)
            await asyncio.sleep(self._every_s)


def capacity_of(
    data_dir: Path,
    port_range: tuple[int, int],
    *,
    memory: Path = MEMORY,
    sockets: Iterable[Path] = SOCKETS,
    directories: Callable[[], Iterable[DataDir]] = tuple,
) -> Capacity:
    """Blocking, a few small reads. What cannot be read is null; raises nothing."""
    total, free = _disk(data_dir)
    memory_total, memory_free = memory_in(_text(memory))
    return Capacity(
        disk_total_bytes=total,
        disk_free_bytes=free,
        memory_total_bytes=memory_total,
        memory_free_bytes=memory_free,
        cores=_cores(),
        load=_load(),
        ports_busy=_busy(sockets, port_range),
        directories=tuple(_room(each) for each in directories()),
    )


def memory_in(text: str) -> tuple[int | None, int | None]:
    """(all, what new processes can have), in bytes, of the text of /proc/meminfo."""
    found: dict[str, int] = {}
    for line in text.splitlines():
        name, _, value = line.partition(":")
        number = value.split()
        if len(number) == 2 and number[0].isdigit() and number[1] == "kB":
            found[name] = int(number[0]) * 1024
    return found.get("MemTotal"), found.get("MemAvailable")


def listening_in(text: str) -> set[int]:
    """The ports that somebody listens on, of the text of /proc/net/tcp or tcp6."""
    found = set()
    for line in text.splitlines()[1:]:
        fields = line.split()
        if len(fields) > 3 and fields[3] == _LISTENS:
            _, _, port = fields[1].rpartition(":")
            found.add(int(port, 16))
    return found


def _busy(sockets: Iterable[Path], port_range: tuple[int, int]) -> tuple[int, ...] | None:
    first, last = port_range
    found: set[int] = set()
    read = False
    for path in sockets:
        text = _text(path)
        read = read or bool(text)
        try:
            found |= listening_in(text)
        except ValueError:
            return None
    busy = sorted(port for port in found if first <= port <= last)
    return tuple(busy) if read and len(busy) <= PORTS_MAX else None


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, ValueError):
        return ""


def _disk(data_dir: Path) -> tuple[int | None, int | None]:
    try:
        found = os.statvfs(data_dir)
    except OSError:
        return None, None
    # What is free to this user, not to root.
    return found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize


def _room(directory: DataDir) -> DirectoryRoom:
    """Of one that cannot be used nothing is said: it may be a part of another disk."""
    total, free = (None, None) if directory.problem else _disk(directory.path)
    return DirectoryRoom(
        name=directory.name,
        path=str(directory.path),
        total_bytes=total,
        free_bytes=free,
        volume=None if directory.problem else _volume(directory.path),
        problem=directory.problem,
    )


def _volume(path: Path) -> str | None:
    try:
        return str(path.stat().st_dev)
    except OSError:
        return None


def _cores() -> int | None:
    try:
        return len(os.sched_getaffinity(0))
    except OSError:
        return os.cpu_count()


def _load() -> float | None:
    try:
        return round(os.getloadavg()[0], 2)
    except OSError:
        return None
