"""The randomness of the machine behind the `Entropy` port."""

from __future__ import annotations

import random
import secrets
import uuid

_random = random.SystemRandom()


class OsEntropy:
    def token_bytes(self, length_bytes: int) -> bytes:
        return secrets.token_bytes(length_bytes)

    def uuid4(self) -> uuid.UUID:
        return uuid.uuid4()

    def uniform(self, low: float, high: float) -> float:
        return _random.uniform(low, high)
