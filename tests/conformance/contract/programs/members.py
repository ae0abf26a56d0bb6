"""A consumer of a group in a thread of its own: joining waits inside of a poll."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class Member(threading.Thread):
    """`partitions` it has, by number; `changes` counts how often it was given some."""

    def __init__(self, make: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self.partitions: set[int] = set()
        self.changes = 0
        self._make = make
        self._leaves = False
        self.start()

    def run(self) -> None:
        client = self._make()
        while not self._leaves:
            client.poll(200)
            found = {each.partition for each in client.assignment()}
            if found != self.partitions:
                self.changes += 1 if len(found) == 2 else 0
                self.partitions = found
        client.close()

    def leave(self) -> None:
        self._leaves = True
        self.join(20)
