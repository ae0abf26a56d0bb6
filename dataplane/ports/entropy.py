"""What the core asks of chance."""

from __future__ import annotations

import uuid
from typing import Protocol


class Entropy(Protocol):
    """Unpredictable values. A fake with a seed gives the same ones again."""

    def token_bytes(self, length_bytes: int) -> bytes: ...

    def uuid4(self) -> uuid.UUID: ...

    def uniform(self, low: float, high: float) -> float: ...
