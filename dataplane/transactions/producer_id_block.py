"""Producer ids are given out from blocks of 1000 that a broker claims in ZooKeeper."""

from __future__ import annotations

from typing import Final

BLOCK_SIZE: Final = 1000
PRODUCER_ID_MAX: Final = 2**63 - 1


class ProducerIdsExhaustedError(Exception):
    """All 2^63 ids are used up."""


def next_block(last_claimed: int | None) -> tuple[int, int]:
    """The block after the one that ends with `last_claimed`: first and last id, inclusive."""
    first = 0 if last_claimed is None else last_claimed + 1
    last = first + BLOCK_SIZE - 1
    if first < 0 or last > PRODUCER_ID_MAX:
        raise ProducerIdsExhaustedError(f"the last block of producer ids ended with {last_claimed}")
    return first, last


class ProducerIdBlockCursor:
    """Gives out the ids of one claimed block, each once."""

    def __init__(self) -> None:
        self._next = 0
        self._last = -1

    def claim(self, first: int, last: int) -> None:
        self._next, self._last = first, last

    def take(self) -> int | None:
        """The next id; None when a new block has to be claimed."""
        if self._next > self._last:
            return None
        taken = self._next
        self._next += 1
        return taken
