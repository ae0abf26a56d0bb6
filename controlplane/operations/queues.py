"""Which workers run what asks a cluster, and how much of them one tenant or cluster may have. Pure.

Two queues, each with workers of its own. What may hold a thread until a deadline goes to `SLOW`:
the first contact with a cluster, and whatever concerns one whose last question was in vain. So
clusters that never answer hold the threads of that pool at most, and of these only their tenant's
share.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

NORMAL, SLOW = "celery", "operations.slow"
"""Names of Celery's queues; a worker without `--queues` takes from the first alone."""
QUEUES = (NORMAL, SLOW)
QUEUED_AT = "penstock_queued_at"
"""A message's header: when it was sent, in seconds since 1970. The queues' ages come from it."""

PUT_BACK_S = {NORMAL: 0.2, SLOW: 1.0}
"""After how long a task is looked at again whose tenant or cluster is at its bound."""
EARLY_S = 1.0
"""A tick this far before its operation is due is a copy of one that has run; less is two clocks."""
MOVING_S = 10.0
"""How long a task on its way to the other queue is taken to be there still."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Threads of one worker process that one tenant, and one cluster, may hold at a time."""

    tenant: int
    cluster: int


def queue_for(*, is_first_contact: bool, is_doubtful: bool) -> str:
    return SLOW if is_first_contact or is_doubtful else NORMAL


def bounds_of(shares: Shares, *, tenant_id: str, cluster_id: str | None) -> Mapping[str, int]:
    """Slots to take, by key, for work of this tenant on this cluster."""
    bounds = {f"tenant:{tenant_id}": shares.tenant}
    if cluster_id is not None:
        bounds[f"cluster:{cluster_id}"] = shares.cluster
    return bounds


def in_turns(rows: Iterable[tuple[Hashable, T]]) -> list[T]:
    """Of (tenant, what) each tenant's first, then each one's second and so on, in their order.

    Who has many that are due keeps another one waiting for one turn.
    """
    seen: Counter[Hashable] = Counter()
    turns: list[tuple[int, T]] = []
    for tenant, what in rows:
        turns.append((seen[tenant], what))
        seen[tenant] += 1
    return [what for _, what in sorted(turns, key=lambda each: each[0])]
