"""Asks the transaction coordinator whether partitions are part of a transaction (KIP-890)."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final, TypeVar

from dataplane.broker.networking.peer_client import PeerUnavailableError
from dataplane.broker.transactions.first_write import FirstWrite
from dataplane.broker.transactions.marker_queue import by_topic, destination
from dataplane.cluster.topic_names import TRANSACTIONS_TOPIC
from dataplane.log.producers.verifications import Writer
from dataplane.model.coordinator_partition import partition_for
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.wire.errors import WireError
from dataplane.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine

    from dataplane.broker.metadata.config_store import ConfigStore
    from dataplane.broker.metadata.metadata_cache import MetadataCache
    from dataplane.broker.networking.peer_client import PeerPool
    from dataplane.broker.replicas.replica_manager import ReplicaManager

    Errors = dict[TopicPartition, ErrorCode]

_log = logging.getLogger(__name__)

VERSION: Final = 5
CHANNEL: Final = "verification"
TIMEOUT_MS: Final = 10_000
AGAIN: Final = ErrorCode.NOT_ENOUGH_REPLICAS
"""As Kafka answers while the coordinator cannot: every producer tries again on it."""
_NOT_NOW = frozenset(
    {
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)


HELD_BYTES_MAX: Final = 128 * 1024 * 1024
"""What requests that wait for an answer may hold together; the first may be larger than that."""
T = TypeVar("T")


class TransactionVerifier:
    """Puts first writes of transactions off until their coordinator has the partition in them."""

    def __init__(
        self,
        replica_manager: ReplicaManager,
        peers: PeerPool,
        metadata_cache: MetadataCache,
        configs: ConfigStore,
    ) -> None:
        self._replica_manager = replica_manager
        self._peers = peers
        self._metadata_cache = metadata_cache
        self._configs = configs
        self._working: set[asyncio.Task[None]] = set()
        self.held_bytes = 0
        self.asked = 0
        """Questions that were sent to coordinators."""
        self.refused = 0
        """First writes that were not let through."""

    @property
    def is_enabled(self) -> bool:
        key = "transaction.partition.verification.enable"
        return self._configs.broker_config.get_bool(key)

    def is_first(
        self, partition: TopicPartition, transactional_id: str, producer: tuple[int, int]
    ) -> bool:
        """Whether a write would begin a transaction in a partition that is led here, or be the
        first of its writer as far as is known here.

        Kafka lets into an open transaction whoever names its producer id. Partitions of
        `__consumer_offsets` belong to all tenants: one could fence another there, and leave the
        transaction without its marker. `producer` is its id and epoch.
        """
        try:
            producers = self._replica_manager.leader(partition).log.producers
        except KafkaError:
            return False  # refused later, as every write
        producer_id, epoch = producer
        if not producers.has_open_transaction(producer_id):
            return True
        writer = Writer(transactional_id, epoch)
        return not producers.verifications.is_admitted(producer_id, writer)

    # -- work of requests that cannot wait themselves

    def has_space_for(self, count: int) -> bool:
        """Whether a request of so many bytes may be kept until it is decided."""
        return not self.held_bytes or self.held_bytes + count <= HELD_BYTES_MAX

    def start(self, work: Coroutine[Any, Any, None], held_bytes: int) -> None:
        """Work that waits for an answer; bounded by the connections, one request of each."""
        task = asyncio.get_running_loop().create_task(work, name="verify a transaction")
        self.held_bytes += held_bytes
        self._working.add(task)

        def done(task: asyncio.Task[None]) -> None:
            self.held_bytes -= held_bytes
            self._working.discard(task)

        task.add_done_callback(done)

    async def stop(self) -> None:
        """Give up what waits for an answer: nothing of it is written."""
        for task in list(self._working):
            task.cancel()
        await asyncio.gather(*self._working, return_exceptions=True)

    # -- asking

    async def verified(
        self,
        transactional_id: str,
        producer: tuple[int, int],
        partitions: Collection[TopicPartition],
        then: Callable[[Errors], T],
        *,
        knows_abortable: bool,
    ) -> T:
        """What `then` returns, called with the partitions that may not be written, and why.

        `knows_abortable`: who writes has a use for TRANSACTION_ABORTABLE; else it is told
        INVALID_TXN_STATE.
        `then` has to append at once: nothing may come between the look at the question and that.
        `producer` is its id and epoch.
        """
        errors: Errors = {}
        writes: dict[TopicPartition, FirstWrite] = {}
        try:
            for partition in partitions:
                try:
                    writes[partition] = FirstWrite(self._replica_manager, partition, producer[0])
                except KafkaError as error:
                    errors[partition] = error.code
            found = await self._ask(transactional_id, producer, writes)
            writer = Writer(transactional_id, producer[1])
            for partition, write in writes.items():
                code = found[partition] or write.error()
                if code is ErrorCode.TRANSACTION_ABORTABLE and not knows_abortable:
                    code = ErrorCode.INVALID_TXN_STATE
                if code is ErrorCode.NONE:
                    write.admit(writer)
                else:
                    errors[partition] = code
            self.refused += len(errors)
            return then(errors)
        finally:
            for write in writes.values():
                write.end()

    async def _ask(
        self,
        transactional_id: str,
        producer: tuple[int, int],
        partitions: Collection[TopicPartition],
    ) -> Errors:
        if not partitions:
            return {}
        self.asked += 1
        try:
            return await self.verify(transactional_id, *producer, partitions)
        except Exception:  # noqa: BLE001 - answered in shape; the client may try again
            _log.exception("verifying a transaction")
            return dict.fromkeys(partitions, ErrorCode.UNKNOWN_SERVER_ERROR)

    async def verify(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Collection[TopicPartition],
    ) -> dict[TopicPartition, ErrorCode]:
        """NONE for those that the producer has added to its open transaction."""
        image = self._metadata_cache.image
        topic = image.topics.get(TRANSACTIONS_TOPIC)
        if topic is None:
            return dict.fromkeys(partitions, AGAIN)
        index = partition_for(transactional_id, len(topic.partitions))
        broker_id = destination(image, TopicPartition(TRANSACTIONS_TOPIC, index))
        if broker_id < 0:
            return dict.fromkeys(partitions, AGAIN)
        request = AddPartitionsToTxnRequest(
            transactions=[
                AddPartitionsToTxnTransaction(
                    transactional_id=transactional_id,
                    producer_id=producer_id,
                    producer_epoch=producer_epoch,
                    verify_only=True,
                    topics=[
                        AddPartitionsToTxnTopic(name=name, partitions=indexes)
                        for name, indexes in by_topic(partitions).items()
                    ],
                )
            ]
        )
        try:
            response = await self._peers.request(
                broker_id, request, VERSION, timeout_ms=TIMEOUT_MS, channel=CHANNEL
            )
        except (PeerUnavailableError, TimeoutError, ConnectionError, WireError) as error:
            _log.debug("transaction coordinator %d: %s", broker_id, error)
            return dict.fromkeys(partitions, AGAIN)
        found = {
            TopicPartition(topic.name, result.partition_index): _answer(
                ErrorCode.of(result.partition_error_code)
            )
            for transaction in response.results_by_transaction
            for topic in transaction.topic_results
            for result in topic.results_by_partition
        }
        refused = ErrorCode.of(response.error_code)
        missing = AGAIN if refused is ErrorCode.NONE else _answer(refused)
        return {partition: found.get(partition, missing) for partition in partitions}


def _answer(code: ErrorCode) -> ErrorCode:
    """The coordinator's code in words of a partition, as producers expect them from one."""
    if code is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return AGAIN if code in _NOT_NOW else code
