"""The file by which a dead broker's supervisor knows its ZooKeeper session.

A broker writes it to its first log directory before it registers. A pid alone would not do: it may
be of an earlier life, whose session is not this process's.
"""

from __future__ import annotations

import json
from typing import Final

SESSION_FILE: Final = ".penstock-session.json"


def encode_session(pid: int, session_id: int) -> bytes:
    return json.dumps({"pid": pid, "session_id": session_id}).encode()


def session_of(content: bytes, pid: int) -> int | None:
    """What a session file's content says of process `pid`; None when it is not about it."""
    try:
        said = json.loads(content)
        return int(said["session_id"]) if int(said["pid"]) == pid else None
    except (ValueError, KeyError, TypeError):
        return None
