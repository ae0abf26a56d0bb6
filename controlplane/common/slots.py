"""How many threads of this process are at one thing at a time: a bound by key."""

import threading
import time
from collections import Counter
from collections.abc import Mapping


class Slots:
    """Thread-safe. A thread holds a slot of each of its keys, or of none."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._held: Counter[str] = Counter()

    def take(self, bounds: Mapping[str, int], *, wait_s: float = 0.0) -> bool:
        """Take a slot of every key while each has fewer than its bound; wait so long for that.

        Returns:
            False when there was none in time. True: the caller gives them back by `give_back`.
        """
        deadline_s = time.monotonic() + wait_s
        with self._changed:
            while any(self._held[key] >= bound for key, bound in bounds.items()):
                left_s = deadline_s - time.monotonic()
                if left_s <= 0:
                    return False
                self._changed.wait(left_s)
            self._held.update(bounds.keys())
            return True

    def give_back(self, bounds: Mapping[str, int]) -> None:
        with self._changed:
            for key in bounds:
                self._held[key] -= 1
                if self._held[key] <= 0:
                    del self._held[key]
            self._changed.notify_all()

    def held(self, key: str) -> int:
        with self._changed:
            return self._held[key]
