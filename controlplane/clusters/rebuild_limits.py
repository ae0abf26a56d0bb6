"""The limit on what a rebuilt broker reads, as the app of reassignments keeps it (`use_limiter`).
That of what brokers copy between directories is asked of it, too: both may be changed on the way.

It has the leases under which a limit stands, which end when nobody renews them; it lies above this
app and brings itself.
"""

from collections.abc import Iterable
from typing import Final, Protocol

from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.types import TopicDescription
from controlplane.operations.models import Operation

THROTTLE_BYTES_PER_S: Final = 50 * 2**20
"""Of each broker and direction, unless the plan asks for another or none."""
THROTTLE_MIN_BYTES_PER_S: Final = 1_024
RENEW_S: Final = 30.0
"""How often a limit is looked at and its lease renewed; the lease lasts ten times as long."""


class RebuildLimiter(Protocol):
    def prepare(self, operation: Operation, bytes_per_s: int | None) -> None:
        """In the transaction that begins the operation; nothing is set yet."""
        ...

    def wanted(self, operation: Operation, planned: int | None) -> int | None:
        """The limit that is asked for now, null for none; `planned` where nobody has noted one."""
        ...

    def keep(
        self,
        gateway: ClusterGateway,
        operation: Operation,
        broker: int,
        topics: Iterable[TopicDescription],
    ) -> str:
        """Have the limit stand on what `broker` reads of these topics, and renew its lease; says
        what had to be set. Brokers that are away are passed over.

        Raises:
            GatewayError: it cannot be read or set.
        """
        ...

    def lift(self, gateway: ClusterGateway, operation: Operation) -> tuple[str, bool]:
        """Take it off every broker and topic; safe to repeat. What it did, and whether that is to
        be noted by `lifted`.
        """
        ...

    def lifted(self, operation: Operation) -> None:
        """Note that nobody has anything of it any more."""
        ...


_limiter: RebuildLimiter | None = None


def use_limiter(limiter: RebuildLimiter) -> None:
    global _limiter  # noqa: PLW0603 - one per process
    _limiter = limiter


def limiter() -> RebuildLimiter:
    if _limiter is None:
        raise RuntimeError("no limits: the app of reassignments brings them")
    return _limiter
