"""One canonical text per JSON value, so equal things have equal hashes."""

import hashlib
import json
from typing import Any


def canonical_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)


def content_hash(value: Any) -> str:
    """SHA-256 of the canonical text, hex."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()
