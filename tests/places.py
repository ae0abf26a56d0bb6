"""Where a process of a test runs: on this machine as it is, or on a host of the test's own."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """Where one process runs: an address, and the network namespace around it, if any."""

    address: str = "127.0.0.1"
    namespace: str = ""

    def inside(self, command: Sequence[str]) -> list[str]:
        if not self.namespace:
            return list(command)
        return ["ip", "netns", "exec", self.namespace, *command]
