"""This broker as transaction coordinator: a shard for each partition of `__transaction_state`
that it leads.

Errors that concern the coordinator, not the transaction, are raised as KafkaError:
COORDINATOR_NOT_AVAILABLE (stopping), COORDINATOR_LOAD_IN_PROGRESS, NOT_COORDINATOR; and
INVALID_REQUEST for an empty transactional id.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from typing import TYPE_CHECKING, Final, cast

from dataplane.broker.transactions.shard_host import TransactionShardHost
from dataplane.cluster.topic_names import TRANSACTIONS_TOPIC
from dataplane.model.coordinator_partition import partition_for
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.transactions.requests import InitResult
from dataplane.transactions.settings import TransactionSettings
from dataplane.transactions.states import TransactionState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dataplane.broker.metadata.config_store import ConfigStore
    from dataplane.broker.metadata.metadata_cache import MetadataCache
    from dataplane.broker.producer_ids import ProducerIdManager
    from dataplane.broker.replicas.replica_manager import ReplicaManager
    from dataplane.broker.transactions.marker_sender import MarkerSender
    from dataplane.config.broker_config import BrokerConfig
    from dataplane.ports.clock import Clock
    from dataplane.transactions.outcome import Outcome
    from dataplane.transactions.requests import (
        EndRequest,
        InitRequest,
        ListedTransaction,
        PartitionsRequest,
        TransactionDescription,
    )
    from dataplane.transactions.shard import TransactionShard

_log = logging.getLogger(__name__)

WRITE_TIMEOUT_MS: Final = 15_000
"""How long a producer waits for a record to be committed: half of clients' own default."""

EXPIRY_PAUSE_S: Final = 5.0
"""Between rounds that forget idle ids, while one shard has more of them than a round takes."""


def settings_from(config: BrokerConfig) -> TransactionSettings:
    return TransactionSettings(
        max_timeout_ms=config.get_int("transaction.max.timeout.ms"),
        id_expiration_ms=config.get_int("transactional.id.expiration.ms"),
    )


class TransactionCoordinator:
    """Routes requests to shards, loads and unloads them as leadership moves."""

    def __init__(
        self,
        replica_manager: ReplicaManager,
        metadata_cache: MetadataCache,
        configs: ConfigStore,
        clock: Clock,
        *,
        producer_ids: ProducerIdManager,
        sender: MarkerSender,
    ) -> None:
        self._replica_manager = replica_manager
        self._metadata_cache = metadata_cache
        self._configs = configs
        self._clock = clock
        self._producer_ids = producer_ids
        self.sender = sender
        self._settings = settings_from(configs.broker_config)
        self._shards: dict[int, TransactionShardHost] = {}
        self._chores: list[asyncio.Task[None]] = []
        self._timed_out_before = 0  # by shards that are not here any more
        self._is_stopping = False

    async def start(self) -> None:
        """Follow leadership from now on; partitions that are led already are loaded too."""
        self._replica_manager.on_leadership(self._on_leadership)
        for partition in self._replica_manager.led():
            self._on_leadership(partition.topic_partition, True, partition.leader_epoch)
        config = self._configs.broker_config
        abort_ms = config.get_int("transaction.abort.timed.out.transaction.cleanup.interval.ms")
        expire_ms = config.get_int("transaction.remove.expired.transaction.cleanup.interval.ms")
        loop = asyncio.get_running_loop()
        self._chores = [
            loop.create_task(
                self._every(abort_ms, lambda shard: shard.abort_timed_out()),
                name="abort of transactions",
            ),
            loop.create_task(
                self._every(
                    expire_ms,
                    lambda shard: shard.expire(),
                    writes_max=self._settings.expired_per_round_max,
                ),
                name="expiry of transactional ids",
            ),
        ]

    async def stop(self) -> None:
        self._is_stopping = True
        for chore in self._chores:
            chore.cancel()
        await asyncio.gather(*self._chores, return_exceptions=True)
        for host in self._shards.values():
            host.close()
        self._shards.clear()
        await self.sender.stop()

    # finding the shard

    @property
    def partition_count(self) -> int:
        """Partitions of `__transaction_state`: as it is, or as it will be created."""
        topic = self._metadata_cache.image.topics.get(TRANSACTIONS_TOPIC)
        if topic is not None:
            return len(topic.partitions)
        return self._configs.broker_config.get_int("transaction.state.log.num.partitions")

    def partition_of(self, transactional_id: str) -> TopicPartition:
        index = partition_for(transactional_id, self.partition_count)
        return TopicPartition(TRANSACTIONS_TOPIC, index)

    def _host(self, transactional_id: str) -> TransactionShardHost:
        if not transactional_id:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "the transactional id is empty")
        if self._is_stopping:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        # Without the topic in the image its partition count is a guess, and a wrong guess would
        # keep an id where nobody looks for it.
        is_known = TRANSACTIONS_TOPIC in self._metadata_cache.image.topics
        host = self._shards.get(self.partition_of(transactional_id).partition) if is_known else None
        if host is None:
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        if not host.is_loaded:
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return host

    def _loaded(self) -> Iterator[TransactionShardHost]:
        return (host for host in list(self._shards.values()) if host.is_loaded)

    # transactions

    async def init_producer_id(self, request: InitRequest) -> InitResult:
        """The producer id and epoch of whoever takes the transactional id over."""
        result = await self._init(request)
        if not result.needs_producer_id:
            return result
        fresh = await self._producer_ids.next_id()
        return await self._init(dataclasses.replace(request, fresh_producer_id=fresh))

    async def _init(self, request: InitRequest) -> InitResult:
        host = self._host(request.transactional_id)
        reply = await host.ask(lambda ticket: host.shard.initializing.init(request, ticket))
        return cast("InitResult", reply)

    async def add_partitions(self, request: PartitionsRequest) -> ErrorCode:
        host = self._host(request.transactional_id)
        reply = await host.ask(lambda ticket: host.shard.adding.add(request, ticket))
        return cast("ErrorCode", reply)

    def verify_partitions(
        self, request: PartitionsRequest
    ) -> tuple[ErrorCode, dict[TopicPartition, ErrorCode]]:
        """One error for all, or one for each partition; nothing is changed."""
        return self._host(request.transactional_id).shard.adding.verify(request)

    async def end(self, request: EndRequest) -> ErrorCode:
        host = self._host(request.transactional_id)
        reply = await host.ask(lambda ticket: host.shard.ending.end(request, ticket))
        return cast("ErrorCode", reply)

    # views

    def describe(self, transactional_id: str) -> TransactionDescription:
        return self._host(transactional_id).shard.describe(transactional_id)

    def list_transactions(self) -> tuple[ErrorCode, list[ListedTransaction]]:
        """Ids coordinated here; nothing but COORDINATOR_LOAD_IN_PROGRESS while some are read."""
        if self._is_stopping:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE, []
        if not all(host.is_loaded for host in self._shards.values()):
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, []
        return ErrorCode.NONE, [
            listed for host in self._loaded() for listed in host.shard.list_transactions()
        ]

    @property
    def states(self) -> dict[str, int]:
        """How many ids coordinated here are in which state, by its name."""
        counts = {state.label: 0 for state in TransactionState}
        for host in self._loaded():
            for state, count in host.shard.core.states().items():
                counts[state.label] += count
        return counts

    def load_times_ms(self) -> list[int]:
        """How long reading each partition took that is coordinated here."""
        return [host.load_ms for host in self._loaded()]

    @property
    def timed_out(self) -> int:
        """Transactions aborted here since the start because they took too long."""
        here = sum(host.shard.ending.timed_out for host in self._shards.values())
        return self._timed_out_before + here

    @property
    def completions_waiting(self) -> int:
        """Transactions whose markers are written and whose last record was refused."""
        return sum(host.shard.ending.retries_waiting for host in self._loaded())

    # what moves shards

    def _on_leadership(
        self, topic_partition: TopicPartition, is_leader: bool, _leader_epoch: int
    ) -> None:
        if topic_partition.topic != TRANSACTIONS_TOPIC or self._is_stopping:
            return
        index = topic_partition.partition
        if not is_leader:
            host = self._shards.pop(index, None)
            if host is not None:
                self._timed_out_before += host.shard.ending.timed_out
                host.close()
            return
        partition = self._replica_manager.get(topic_partition)
        if index in self._shards or partition is None:
            return  # still the leader, in a new epoch: what was loaded still holds
        host = TransactionShardHost(
            partition,
            self._settings,
            self._clock,
            self.sender,
            write_timeout_ms=WRITE_TIMEOUT_MS,
        )
        self._shards[index] = host
        host.start_loading()

    async def _every(
        self,
        interval_ms: int,
        decide: Callable[[TransactionShard], Outcome],
        *,
        writes_max: int | None = None,
    ) -> None:
        """`writes_max`: a round with so many was cut short, and another one follows soon."""
        pause_s = interval_ms / 1000
        while True:
            await asyncio.sleep(pause_s)
            pause_s = interval_ms / 1000
            for host in self._loaded():
                try:
                    outcome = decide(host.shard)
                    host.carry_out(outcome)
                except Exception:  # noqa: BLE001 - the other shards and the next round go on
                    _log.exception("a chore of the transaction coordinator failed")
                    continue
                if writes_max is not None and len(outcome.writes) >= writes_max:
                    pause_s = min(pause_s, EXPIRY_PAUSE_S)
