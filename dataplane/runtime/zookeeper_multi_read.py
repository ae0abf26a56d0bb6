"""ZooKeeper's multiRead (3.6+): many reads in one request, which kazoo does not offer.

A controller that takes over reads two nodes per partition. One request each costs 0.4 ms of CPU in
kazoo's threads; together they cost a twentieth.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from kazoo.exceptions import NoAuthError

from dataplane.ports.coordinator import NodeStat

_HEADER = struct.Struct("!iBi")
_INT = struct.Struct("!i")
_STAT = struct.Struct("!qqqqiiiqiiq")
_GET_DATA, _ERROR = 4, -1
_NO_NODE, _NO_AUTH = -101, -102


class MultiReadError(Exception):
    """The server refused a read for another reason than that the node does not exist."""


class MultiRead(NamedTuple):
    """A request as kazoo's connection wants it. Paths are absolute, with the chroot."""

    paths: tuple[str, ...]

    @property
    def type(self) -> int:
        """ZooKeeper's operation code."""
        return 22

    def serialize(self) -> bytearray:
        out = bytearray()
        for path in self.paths:
            encoded = path.encode()
            out += _HEADER.pack(_GET_DATA, 0, -1) + _INT.pack(len(encoded)) + encoded + b"\0"
        out += _HEADER.pack(-1, 1, -1)
        return out

    def deserialize(self, data: bytes, offset: int) -> list[tuple[bytes, NodeStat] | None]:
        """Data and stat by path, in order; None where there is no node."""
        found: list[tuple[bytes, NodeStat] | None] = []
        while True:
            kind, done, _ = _HEADER.unpack_from(data, offset)
            offset += _HEADER.size
            if done:
                return found
            if kind == _ERROR:
                (code,) = _INT.unpack_from(data, offset)
                offset += _INT.size
                if code == _NO_AUTH:
                    raise NoAuthError
                if code != _NO_NODE:
                    raise MultiReadError(f"ZooKeeper error {code}")
                found.append(None)
                continue
            (length,) = _INT.unpack_from(data, offset)
            offset += _INT.size
            content = bytes(data[offset : offset + length]) if length > 0 else b""
            offset += max(length, 0)
            czxid, mzxid, ctime, _, version, _, _, owner, *_ = _STAT.unpack_from(data, offset)
            offset += _STAT.size
            found.append((content, NodeStat(version, czxid, mzxid, owner, ctime_ms=ctime)))
