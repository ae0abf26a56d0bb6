"""A producer's first write to a partition in a transaction: asked about before it is appended.

Only these wait for the transaction coordinator (KIP-890, part 1): what follows in the same
transaction finds it open, and its writer admitted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from dataplane.broker.replicas.replica_manager import ReplicaManager
    from dataplane.log.producers.producer_state import ProducerState
    from dataplane.log.producers.verifications import Writer
    from dataplane.model.ids import TopicPartition


class FirstWrite:
    """One that the coordinator is being asked about.

    Its question is open from here on: `end` it, however it goes.
    """

    __slots__ = ("_producer_id", "_producers", "_replica_manager", "_verification", "partition")

    def __init__(
        self, replica_manager: ReplicaManager, partition: TopicPartition, producer_id: int
    ) -> None:
        """KafkaError when the partition is not led here."""
        self.partition = partition
        self._replica_manager = replica_manager
        self._producer_id = producer_id
        self._producers: ProducerState = replica_manager.leader(partition).log.producers
        self._verification = self._producers.verifications.begin(producer_id)

    def error(self) -> ErrorCode:
        """Whether what the coordinator has allowed may be written now, in this step of the loop.

        INVALID_TXN_STATE: a marker came meanwhile, so the transaction has ended. The codes of a
        lost leadership where it is lost.
        """
        try:
            producers = self._replica_manager.leader(self.partition).log.producers
        except KafkaError as error:
            return error.code
        if producers.has_open_transaction(self._producer_id):
            return ErrorCode.NONE
        if producers.verifications.holds(self._producer_id, self._verification):
            return ErrorCode.NONE
        return ErrorCode.INVALID_TXN_STATE

    def admit(self, writer: Writer) -> None:
        """What may be written: who goes on in this transaction is not asked about again."""
        self._producers.verifications.admit(self._producer_id, writer)

    def end(self) -> None:
        self._producers.verifications.end(self._producer_id, self._verification)
