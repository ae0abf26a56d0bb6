"""What is fuzzed: a function of bytes, the inputs to begin with, and what it may allocate."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable


class Finding(AssertionError):
    """What a target did must not happen. Findings of one kind and place are counted as one."""

    def __init__(self, kind: str, message: str, place: str = "") -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.place = place


@dataclasses.dataclass(frozen=True, slots=True)
class Target:
    """`run` answers True when the bytes meant something and False when they were refused as declared.

    Anything that it raises is a finding. Allocation at any one time may reach
    `allocation_bytes + allocation_factor * len(data)`.
    """

    name: str
    run: Callable[[bytes], bool]
    seeds: Callable[[], list[bytes]]
    allocation_bytes: int = 256 * 1024
    allocation_factor: int = 400
    """A struct of two bytes on the wire is an object, a list and its place in another list."""
