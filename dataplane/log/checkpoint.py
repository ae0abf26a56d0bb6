"""Kafka's checkpoint files: a version line, a count line, then one entry a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.model.ids import TopicPartition
from dataplane.model.integers import INT64_MAX
from dataplane.ports.filesystem import read_whole, replace_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dataplane.ports.filesystem import FileSystem

_VERSION = "0"


class CheckpointDamagedError(Exception):
    """The file is there and is not a checkpoint."""


def read_entries(fs: FileSystem, path: str, *, fields: int) -> list[list[str]]:
    """The fields of every entry; empty if there is no file; `CheckpointDamagedError`."""
    try:
        raw = read_whole(fs, path)
    except FileNotFoundError:
        return []
    try:
        lines = raw.decode().splitlines()
    except UnicodeDecodeError as error:
        raise CheckpointDamagedError(f"{path}: not text") from error
    if not raw.endswith(b"\n"):
        raise CheckpointDamagedError(f"{path}: the last line is torn")
    if len(lines) < 2 or lines[0] != _VERSION or not lines[1].isdigit():  # the two heading lines
        raise CheckpointDamagedError(f"{path}: no version and count lines")
    entries = [line.split() for line in lines[2:] if line]
    if len(entries) != int(lines[1]) or any(len(entry) != fields for entry in entries):
        raise CheckpointDamagedError(
            f"{path}: {len(entries)} entries where {lines[1]} are promised"
        )
    return entries


def write_entries(fs: FileSystem, path: str, entries: Iterable[str], *, sync: bool) -> None:
    lines = list(entries)
    content = "\n".join([_VERSION, str(len(lines)), *lines, ""])
    replace_whole(fs, path, content.encode(), sync=sync)


def read_offsets(fs: FileSystem, path: str) -> dict[TopicPartition, int]:
    """Offsets by partition. CheckpointDamagedError."""
    entries = read_entries(fs, path, fields=3)
    try:
        offsets = {TopicPartition(topic, int(index)): int(at) for topic, index, at in entries}
    except ValueError as error:
        raise CheckpointDamagedError(f"{path}: {error}") from error
    if any(at < 0 or at > INT64_MAX for at in offsets.values()):
        raise CheckpointDamagedError(f"{path}: an offset is no offset")
    return offsets


def write_offsets(fs: FileSystem, path: str, offsets: Mapping[TopicPartition, int]) -> None:
    lines = (f"{tp.topic} {tp.partition} {offset}" for tp, offset in sorted(offsets.items()))
    write_entries(fs, path, lines, sync=True)
