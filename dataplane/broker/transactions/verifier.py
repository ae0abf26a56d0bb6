"""Asks the transaction coordinator whether partitions are part of a transaction (KIP-890)."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

from dataplane.broker.networking.peer_client import PeerUnavailableError
from dataplane.broker.transactions.marker_queue import by_topic, destination
from dataplane.cluster.topic_names import TRANSACTIONS_TOPIC
from dataplane.model.coordinator_partition import partition_for
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.wire.errors import WireError
from dataplane.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Coroutine

    from dataplane.broker.metadata.config_store import ConfigStore
    from dataplane.broker.metadata.metadata_cache import MetadataCache
    from dataplane.broker.networking.peer_client import PeerPool

_log = logging.getLogger(__name__)

VERSION: Final = 4
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


class TransactionVerifier:
    def __init__(
        self, peers: PeerPool, metadata_cache: MetadataCache, configs: ConfigStore
    ) -> None:
        self._peers = peers
        self._metadata_cache = metadata_cache
        self._configs = configs
        self._working: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Work that waits for an answer; bounded by the connections, one request of each."""
        task = asyncio.get_running_loop().create_task(work, name="verify a transaction")
        self._working.add(task)
        task.add_done_callback(self._working.discard)

    @property
    def is_enabled(self) -> bool:
        key = "transaction.partition.verification.enable"
        return self._configs.broker_config.get_bool(key)

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
    return AGAIN if code in _NOT_NOW else code
