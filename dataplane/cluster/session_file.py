"""The file by which a dead broker's supervisor knows its ZooKeeper session.

A broker writes it to its first log directory before it registers. A pid alone would not do: it may
be of an earlier life, whose session is not this process's.
"""

from __future__ import annotations

import json
from typing import Final

SESSION_FILE: Final = ".penstock-session.json"


TEXT_MAX: Final = 50


def encode_session(pid: int, session_id: int, *, software: str = "", protocol: str = "") -> bytes:
    """`software` is the broker's release, `protocol` what it sends the others by."""
    row = {"pid": pid, "session_id": session_id, "software": software, "protocol": protocol}
    return json.dumps(row).encode()


def session_of(content: bytes, pid: int) -> int | None:
    """What a session file's content says of process `pid`; None when it is not about it."""
    try:
        said = json.loads(content)
        return int(said["session_id"]) if int(said["pid"]) == pid else None
    except (ValueError, KeyError, TypeError):
        return None


def software_of(content: bytes, pid: int) -> tuple[str, str]:
    """(release, inter-broker protocol) that process `pid` said it has; "" for what it did not."""
    try:
        said = json.loads(content)
        if int(said["pid"]) != pid:
            return "", ""
        found = said.get("software"), said.get("protocol")
    except (ValueError, KeyError, TypeError, AttributeError):
        return "", ""
    software, protocol = (each[:TEXT_MAX] if isinstance(each, str) else "" for each in found)
    return software, protocol
