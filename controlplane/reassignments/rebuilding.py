"""The limit on what a rebuilt broker reads: the same leases as those of moves.

To the limit a broker that begins with an empty directory is a move to it of each of its partitions:
the others send as leaders, it fetches as a follower. Kafka limits what is not in sync alone.
"""

from collections.abc import Iterable

from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.types import TP, TopicDescription
from controlplane.operations.models import Operation
from controlplane.reassignments.rules import Move
from controlplane.reassignments.services import (
    throttle_keep,
    throttle_lift,
    throttle_lifted,
    throttle_of,
    throttle_prepare,
)


class LeasedLimiter:
    """See `controlplane.clusters.rebuild_limits.RebuildLimiter`."""

    def prepare(self, operation: Operation, bytes_per_s: int | None) -> None:
        throttle_prepare(operation, bytes_per_s)

    def wanted(self, operation: Operation, planned: int | None) -> int | None:
        lease = throttle_of(operation.id)
        return planned if lease is None else lease.bytes_per_s

    def keep(
        self,
        gateway: ClusterGateway,
        operation: Operation,
        broker: int,
        topics: Iterable[TopicDescription],
    ) -> str:
        """An operation that began before there was such a limit has none."""
        moves = rebuilt_moves(broker, topics)
        return throttle_keep(gateway, operation, moves).said if moves else ""

    def lift(self, gateway: ClusterGateway, operation: Operation) -> tuple[str, bool]:
        return throttle_lift(gateway, operation)

    def lifted(self, operation: Operation) -> None:
        throttle_lifted(operation.id)


def rebuilt_moves(broker: int, topics: Iterable[TopicDescription]) -> list[Move]:
    """Each partition of the broker that others have too: what it reads, and from whom."""
    moves = []
    for topic in topics:
        for part in topic.partitions:
            others = tuple(each for each in part.replicas if each != broker)
            if broker in part.replicas and others:
                moves.append(
                    Move(
                        tp=TP(topic.name, part.partition),
                        before=others,
                        after=(*others, broker),
                        size_bytes=None,
                    )
                )
    return moves
