"""What other apps have still to do on a Kafka that runs elsewhere, and do not do once it is let go.

They say so in the plan of `cluster.delete` (`use_unfinished` in their `apps.py`): `clusters` knows
none of them.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from controlplane.clusters.models import Cluster


@dataclass(frozen=True, slots=True)
class Unfinished:
    """`keys` name what is left to do, for the confirmation; `warning` is of the plan."""

    keys: tuple[str, ...]
    warning: dict[str, Any]


Reader = Callable[[Cluster], Unfinished | None]
_READERS: list[Reader] = []


def use_unfinished(reader: Reader) -> None:
    _READERS.append(reader)


def unfinished_on(cluster: Cluster) -> list[Unfinished]:
    return [found for reader in _READERS if (found := reader(cluster)) is not None]


def keys_of(rows: Iterable[Unfinished]) -> list[str]:
    return sorted(key for row in rows for key in row.keys)
