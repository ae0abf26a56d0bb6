"""What the planner replaced: replicas by number alone, one scan of all partitions for each move."""

from collections import Counter
from collections.abc import Mapping, Sequence

from controlplane.gateway.types import TP

Replicas = tuple[int, ...]
ROUNDS_MAX = 10_000


def counted_spread(current: Mapping[TP, Replicas], targets: Sequence[int]) -> dict[TP, Replicas]:
    """Even out replicas over `targets`. It stops after `ROUNDS_MAX` moves without a word."""
    load = Counter(dict.fromkeys(targets, 0))
    for replicas in current.values():
        load.update(replicas)
    planned = dict(current)
    for _ in range(ROUNDS_MAX):
        fullest = max(load, key=lambda b: (load[b], -b))
        emptiest = min(load, key=lambda b: (load[b], b))
        if load[fullest] - load[emptiest] <= 1:
            break
        candidates = [tp for tp, r in planned.items() if fullest in r and emptiest not in r]
        tp = min(candidates, key=lambda tp: (planned[tp][0] == fullest, tp))
        planned[tp] = tuple(emptiest if b == fullest else b for b in planned[tp])
        load[fullest] -= 1
        load[emptiest] += 1
    return planned
