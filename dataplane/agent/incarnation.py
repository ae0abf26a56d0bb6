"""Which machine and data directory a host id stands for, so that two agents never share one.

A host id is a word that somebody types. What makes a host the same after a restart is its data
directory, which has an id of its own, written once. It is registered with the host in ZooKeeper by
compare-and-set: of two agents with one host id and two directories the second is refused.
"""

from __future__ import annotations

import dataclasses
import json
import os
import uuid
from pathlib import Path

FILE = ".host-id.json"
FORMAT = 1
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_LENGTH_MAX = 64


class IncarnationError(Exception):
    """One line: the host id belongs to another agent, or the directory's id cannot be read."""


@dataclasses.dataclass(frozen=True, slots=True)
class Incarnation:
    """`boot_id` is the kernel's, empty where it has none; it is for people to read."""

    directory_id: str
    boot_id: str


def incarnation_of(data_dir: Path, boot_id_path: Path = BOOT_ID) -> Incarnation:
    """That of this directory, which gets an id when it has none.

    Raises:
        IncarnationError: there is a file and it holds no id. A new one would make of a host that
            has brokers another host.
        OSError: it can be neither read nor written.
    """
    path = data_dir / FILE
    try:
        found = path.read_bytes()
    except FileNotFoundError:
        directory_id = str(uuid.uuid4())
        write_whole(path, json.dumps({"v": FORMAT, "directory_id": directory_id}).encode())
    else:
        directory_id = directory_id_in(found)
        if not directory_id:
            raise IncarnationError(f"{path} holds no id of a data directory: restore the file")
    return Incarnation(directory_id, _boot_id(boot_id_path))


def directory_id_in(data: bytes) -> str:
    """The directory id in what a host or its file says; empty when it says none."""
    try:
        found = json.loads(data)["directory_id"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return found if isinstance(found, str) and len(found) <= _LENGTH_MAX else ""


def _boot_id(path: Path) -> str:
    try:
        with path.open() as found:
            return found.read(_LENGTH_MAX).strip()
    except OSError:
        return ""


def write_whole(path: Path, data: bytes) -> None:
    """All of it or nothing, also when the machine stops in the middle. OSError."""
    written = path.with_suffix(".new")
    with written.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    written.replace(path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
