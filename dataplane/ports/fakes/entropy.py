"""Chance from a seed: the same seed gives the same values in the same order."""

from __future__ import annotations

import hashlib
import uuid


class FakeEntropy:
    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._drawn = 0

    def token_bytes(self, length_bytes: int) -> bytes:
        out = b""
        while len(out) < length_bytes:
            out += hashlib.blake2b(f"{self._seed}/{self._drawn}".encode()).digest()
            self._drawn += 1
        return out[:length_bytes]

    def uuid4(self) -> uuid.UUID:
        return uuid.UUID(bytes=self.token_bytes(16), version=4)

    def uniform(self, low: float, high: float) -> float:
        return low + (high - low) * int.from_bytes(self.token_bytes(7)) / 2**56
