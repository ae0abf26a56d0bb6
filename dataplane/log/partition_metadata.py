"""`partition.metadata`: which topic id a partition directory belongs to (KIP-516)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.log import paths
from dataplane.log.uuids import format_uuid, parse_uuid
from dataplane.ports.filesystem import read_whole, replace_whole

if TYPE_CHECKING:
    import uuid

    from dataplane.ports.filesystem import FileSystem


def read_topic_id(fs: FileSystem, directory: str) -> uuid.UUID | None:
    """The topic id of a partition directory; None if it has none that can be read."""
    try:
        text = read_whole(fs, f"{directory}/{paths.PARTITION_METADATA}").decode()
    except (FileNotFoundError, UnicodeDecodeError):
        return None
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "topic_id":
            try:
                return parse_uuid(value.strip())
            except ValueError:
                return None
    return None


def write_topic_id(fs: FileSystem, directory: str, topic_id: uuid.UUID) -> None:
    content = f"version: 0\ntopic_id: {format_uuid(topic_id)}\n"
    replace_whole(fs, f"{directory}/{paths.PARTITION_METADATA}", content.encode())
