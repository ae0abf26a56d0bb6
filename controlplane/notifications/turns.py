"""Whose turn it is to be sent to: no tenant and no slow destination holds the others up. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

THREADS = 8
"""Deliveries of one process at a time."""
THREADS_PER_TENANT = 2
THREADS_FOR_DOUBTFUL = 4
"""For destinations whose last delivery failed: half of all stay free for those that answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A destination with something due; `tenant_id` is empty of the operators'."""

    destination_id: str
    tenant_id: str
    is_doubtful: bool


@dataclass(slots=True)
class Turns:
    """Who is being sent to, and who was last. One process's, one thread's."""

    busy: dict[str, Waiting] = field(default_factory=dict)
    _served: dict[str, int] = field(default_factory=dict)
    _count: int = 0

    def choose(self, waiting: Iterable[Waiting], without: Collection[str] = ()) -> Waiting | None:
        """The one to send to next: of the tenant that has waited longest for a turn.

        One delivery at a time goes to a destination. None while none may have a thread.
        """
        if len(self.busy) >= THREADS:
            return None
        of_tenant = Counter(each.tenant_id for each in self.busy.values())
        doubtful = sum(each.is_doubtful for each in self.busy.values())
        free = [
            each
            for each in waiting
            if each.destination_id not in self.busy
            and each.destination_id not in without
            and of_tenant[each.tenant_id] < THREADS_PER_TENANT
            and (not each.is_doubtful or doubtful < THREADS_FOR_DOUBTFUL)
        ]
        return min(free, key=self._since, default=None)

    def _since(self, each: Waiting) -> tuple[int, int]:
        return self._served.get(each.tenant_id, 0), self._served.get(each.destination_id, 0)

    def begin(self, each: Waiting) -> None:
        self._count += 1
        self._served[each.tenant_id] = self._served[each.destination_id] = self._count
        self.busy[each.destination_id] = each

    def end(self, destination_id: str) -> None:
        del self.busy[destination_id]
