"""What makes a ZooKeeper tree the one that it was: an id in a node, and the node's creation. Pure.

The id is drawn once. With the transaction that made the node it is nobody else's: another ensemble
has another id, and a copy of all nodes has made this one by another transaction.
"""

from __future__ import annotations

import json
import re
import uuid
from typing import Final

NODE: Final = "/penstock/ensemble"
"""Made by the control plane, read by hosts' agents."""
FORMAT: Final = 1
_ID = re.compile(r"[0-9a-f-]{8,64}")
_IDENTITY = re.compile(r"[0-9a-f-]{8,64}@[0-9a-f]{1,16}")
_CONNECT = re.compile(r"[A-Za-z0-9._:\[\]-]+(,[A-Za-z0-9._:\[\]-]+)*(/[A-Za-z0-9._-]+)*")
CONNECT_MAX: Final = 1_000


def new_identity() -> bytes:
    """What the node is to hold, drawn anew."""
    return json.dumps({"v": FORMAT, "id": str(uuid.uuid4())}).encode()


def identity_of(data: bytes, czxid: int) -> str:
    """`<id>@<czxid, hexadecimal>` of the node's content and creation; empty for what is no id."""
    try:
        found = json.loads(data)["id"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    if not isinstance(found, str) or not _ID.fullmatch(found):
        return ""
    return f"{found}@{czxid & 0xFFFF_FFFF_FFFF_FFFF:x}"


def is_identity(text: str) -> bool:
    return _IDENTITY.fullmatch(text) is not None


def plain_connect_string(given: str) -> str:
    """As connect strings are compared: without blanks, and no slash at the end."""
    return ",".join(each.strip() for each in given.split(",")).rstrip("/")


def is_connect_string(text: str) -> bool:
    """`HOST[:PORT][,…][/chroot]`, without blanks."""
    return len(text) <= CONNECT_MAX and _CONNECT.fullmatch(text) is not None
