"""What the planner is given and what it answers. Brokers by id, bytes of one replica.

A size that is not known is None; it is never taken for 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from controlplane.gateway.types import TP

Replicas = tuple[int, ...]

BYTES_TOLERANCE = 0.05
"""A broker is balanced within this share of the mean, both ways."""
REPLICAS_TOLERANCE = 0.10
"""The same of its replicas where bytes decide; where they are unknown, replicas differ by one."""
LEADERS_TOLERANCE = 0.05
LEADER_BYTES_TOLERANCE = 0.10
ROUNDS_MAX = 50
"""How often the goals are gone through; a plan that needs more says so."""

PRUNES_MAX = 3
"""How often changes that are not needed are looked for and taken back."""


class Role(StrEnum):
    """What a plan may do with a broker: fill it, leave it as it is, or empty it."""

    TARGET = "target"
    KEEP = "keep"
    DRAIN = "drain"


class Basis(StrEnum):
    """What is balanced first: bytes, or replicas where some size is unknown."""

    BYTES = "bytes"
    REPLICAS = "replicas"


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """A broker, and what it holds of partitions that the plan leaves alone (`fixed_…`).

    Attributes:
        rack: None when it has none; brokers without a rack count as being in one place.
        capacity_bytes: the broker's weight; used when every target has one.
        said_bytes: all that it holds by its own word, which stands although the sizes of some
            partitions are unknown. None: what it has is the sum of the sizes.
    """

    id: int
    rack: str | None = None
    role: Role = Role.TARGET
    capacity_bytes: int | None = None
    said_bytes: int | None = None
    fixed_bytes: int | None = 0
    fixed_replicas: int = 0
    fixed_leaders: int = 0
    fixed_leader_bytes: int | None = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """Replicas in order, the preferred leader first; `size_bytes` is that of one replica."""

    tp: TP
    replicas: Replicas
    size_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerFigures:
    """What a broker has.

    Attributes:
        bytes: None where a size is unknown.
        leaders: partitions that prefer it as their leader.
        rack_violations: its replicas that share their rack with another of the same partition.
    """

    bytes: int | None
    replicas: int
    leaders: int
    rack_violations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerChange:
    id: int
    before: BrokerFigures
    after: BrokerFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """What the plan does not reach, and why. `broker` is None where it is of no single one."""

    code: str
    text: str
    broker: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebalance:
    """The plan.

    Attributes:
        wanted: the partitions that change, with their new replicas.
        bytes_to_move: None when a size that it would need is unknown.
    """

    wanted: Mapping[TP, Replicas]
    basis: Basis
    brokers: tuple[BrokerChange, ...]
    bytes_to_move: int | None
    limits: tuple[Limit, ...]


class UnplannableError(Exception):
    """The wish cannot be met; the text says why."""
