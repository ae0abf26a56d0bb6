"""Small encoded pieces that the hand-written response encoders share."""

from __future__ import annotations

import functools
import struct
import uuid
from typing import TYPE_CHECKING, NamedTuple

from dataplane.wire.primitives import write_uvarint

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LENGTH = struct.Struct(">h").pack
_LEADER = struct.Struct(">iiB").pack
_INT = struct.Struct(">i").pack


class NodeEndpoint(NamedTuple):
    """Where a broker named in an answer can be reached (KIP-951)."""

    node_id: int
    host: str
    port: int
    rack: str | None = None


@functools.lru_cache(maxsize=4096)
def uuid_from_bytes(raw: bytes) -> uuid.UUID:
    """A topic id; the same few come with every request, and making one costs a microsecond."""
    return uuid.UUID(bytes=raw)


def optional_string(text: str | None, *, flexible: bool) -> bytes:
    """A nullable string with its length."""
    if text is None:
        return b"\0" if flexible else b"\xff\xff"
    encoded = text.encode()
    if not flexible:
        return _LENGTH(len(encoded)) + encoded
    out = bytearray()
    write_uvarint(out, len(encoded) + 1)
    return bytes(out + encoded)


def tag_section(tags: Iterable[tuple[int, bytes]]) -> bytes:
    """A tag buffer of (tag, content), ascending by tag."""
    tags = list(tags)
    if not tags:
        return b"\0"
    out = bytearray()
    write_uvarint(out, len(tags))
    for tag, content in tags:
        write_uvarint(out, tag)
        write_uvarint(out, len(content))
        out += content
    return bytes(out)


def current_leader_tag(tag: int, leader_id: int, leader_epoch: int) -> tuple[int, bytes]:
    """A partition's leader as the answering broker knows it."""
    return tag, _LEADER(leader_id, leader_epoch, 0)


def node_endpoints_tag(tag: int, endpoints: Sequence[NodeEndpoint]) -> tuple[int, bytes]:
    """Endpoints of the leaders that the answer mentions."""
    out = bytearray()
    write_uvarint(out, len(endpoints) + 1)
    for node in endpoints:
        out += _INT(node.node_id) + optional_string(node.host, flexible=True) + _INT(node.port)
        out += optional_string(node.rack, flexible=True) + b"\0"
    return tag, bytes(out)
