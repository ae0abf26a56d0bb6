"""A fuzzer of our own: changes to valid inputs, by a seeded generator. Needs nothing but Python.

It knows no coverage, but what a protocol is made of: lengths, counts, varints, numbers at their edges.
"""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Callable

from tests.fuzz.watch import Watch

INPUT_BYTES_MAX = 4096
KEPT_MAX = 512
_EDGES = (0, 1, -1, 2, 127, 128, 255, 256, 32767, -32768, 65535, 2**31 - 1, -(2**31), 2**32 - 1)
_WIDTHS = ((1, "b"), (2, "h"), (4, "i"), (8, "q"))
_VARINTS = (
    b"\0",
    b"\x01",
    b"\x7f",
    b"\x80\x01",
    b"\xff\xff\x03",
    b"\xff\xff\xff\xff\x07",
    b"\xff\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\xff",
    b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
)


class Mutator:
    """Inputs out of `seeds`, the same for the same seed."""

    def __init__(self, seeds: list[bytes], seed: int) -> None:
        self._rng = random.Random(seed)
        self._kept = list(seeds) or [b""]
        self._first = len(self._kept)
        self._changes: tuple[Callable[[bytearray], None], ...] = (
            self._flip,
            self._set,
            self._number,
            self._number,
            self._varint,
            self._cut,
            self._insert,
            self._delete,
            self._repeat,
            self._splice,
        )

    def next(self) -> bytes:
        return self.changed(self._rng.choice(self._kept))

    def changed(self, data: bytes) -> bytes:
        """`data` with one to six changes, cut at the longest input."""
        rng = self._rng
        work = bytearray(data)
        for _ in range(1 + int(rng.random() * rng.random() * 6)):
            rng.choice(self._changes)(work)
        return bytes(work[:INPUT_BYTES_MAX])

    def keep(self, data: bytes) -> None:
        """Go on from an input that meant something; seeds stay, others make way."""
        if len(self._kept) < self._first + KEPT_MAX:
            self._kept.append(data)
        else:
            self._kept[self._first + self._rng.randrange(KEPT_MAX)] = data

    def _at(self, data: bytearray) -> int:
        return int(self._rng.random() * len(data))

    def _flip(self, data: bytearray) -> None:
        if data:
            data[self._at(data)] ^= 1 << self._rng.randrange(8)

    def _set(self, data: bytearray) -> None:
        if data:
            data[self._at(data)] = self._rng.randrange(256)

    def _number(self, data: bytearray) -> None:
        width, code = self._rng.choice(_WIDTHS)
        if len(data) < width:
            return
        value = self._rng.choice((*_EDGES, len(data), len(data) + 1))
        top = 1 << (8 * width)
        value %= top
        at = min(self._at(data), len(data) - width)
        struct.pack_into(f">{code.upper()}", data, at, value)

    def _varint(self, data: bytearray) -> None:
        at = self._at(data)
        data[at : at + self._rng.choice((0, 1, 1, 2))] = self._rng.choice(_VARINTS)

    def _cut(self, data: bytearray) -> None:
        del data[self._at(data) :]

    def _insert(self, data: bytearray) -> None:
        at = self._at(data)
        data[at:at] = self._rng.randbytes(1 + int(self._rng.random() ** 3 * 30))

    def _delete(self, data: bytearray) -> None:
        at = self._at(data)
        del data[at : at + 1 + int(self._rng.random() ** 2 * 20)]

    def _repeat(self, data: bytearray) -> None:
        at = self._at(data)
        part = data[at : at + 1 + self._at(data) // 4]
        data[at:at] = part * self._rng.choice((1, 1, 2, 10, 100))

    def _splice(self, data: bytearray) -> None:
        other = self._rng.choice(self._kept)
        data[self._at(data) :] = other[int(self._rng.random() * len(other)) :]


def fuzz(
    watch: Watch, *, seed: int, seconds: float | None = None, inputs: int | None = None
) -> None:
    """Take all seeds, then changed ones until `seconds` have passed or `inputs` were taken."""
    seeds = watch.target.seeds()
    mutator = Mutator(seeds, seed)
    ends_s = None if seconds is None else time.monotonic() + seconds
    for each in seeds:
        watch.take_seed(each)
    while inputs is None or watch.inputs < inputs:
        data = mutator.next()
        if watch.take(data) and watch.inputs % 16 == 0:
            mutator.keep(data)
        if ends_s is not None and watch.inputs % 256 == 0 and time.monotonic() > ends_s:
            break
