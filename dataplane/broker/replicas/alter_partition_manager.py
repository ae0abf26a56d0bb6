"""AlterPartition: proposed ISRs travel to the controller, one request at a time.

Proposals of many partitions that come due together share a request. The controller's word, or its
refusal, goes back to each partition's leader core; an answer that never comes is asked for again.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, NamedTuple

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.retry_warning import RetryWarning
from dataplane.wire.messages.alter_partition import (
    AlterPartitionRequest,
    BrokerState,
)
from dataplane.wire.messages.alter_partition import (
    AlterPartitionRequestPartitionData as PartitionData,
)
from dataplane.wire.messages.alter_partition import (
    AlterPartitionRequestTopicData as TopicData,
)

if TYPE_CHECKING:
    import uuid

    from dataplane.broker.broker_lifecycle import BrokerLifecycle
    from dataplane.broker.metadata.metadata_cache import MetadataCache
    from dataplane.broker.metrics import Metrics
    from dataplane.broker.networking.controller_client import ControllerClient
    from dataplane.broker.replicas.partition import Partition
    from dataplane.replication.effects import ProposeIsr
    from dataplane.wire.messages.alter_partition import AlterPartitionResponse

_log = logging.getLogger(__name__)

VERSION = 3
TIMEOUT_MS = 10_000
RETRY_MS_MIN, RETRY_MS_MAX = 50, 1_000
# Up to so many changes of one answer are logged by name.
NAMED_MAX = 3


class _Proposal(NamedTuple):
    """With the lives of its members when the leader decided (KIP-903): one that has begun another
    since may lack what it had, and the controller refuses it.
    """

    isr: ProposeIsr
    epochs: tuple[int, ...]


class AlterPartitionManager:
    """The queue of proposals and the task that carries it."""

    def __init__(
        self,
        controller_client: ControllerClient,
        metadata_cache: MetadataCache,
        metrics: Metrics,
        lifecycle: BrokerLifecycle,
    ) -> None:
        self._controller_client = controller_client
        self._metadata_cache = metadata_cache
        self._metrics = metrics
        self._lifecycle = lifecycle
        self._queue: dict[Partition, _Proposal] = {}
        self._task: asyncio.Task[None] | None = None
        self._retry_ms = RETRY_MS_MIN
        self._failures = RetryWarning()

    def propose(self, partition: Partition, proposal: ProposeIsr) -> None:
        """A later proposal of the same partition replaces one that has not left yet."""
        brokers = self._metadata_cache.image.brokers
        epochs = (brokers[each].epoch if each in brokers else -1 for each in proposal.new_isr)
        self._queue[partition] = _Proposal(proposal, tuple(epochs))
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while self._queue and not self._lifecycle.stopping:
            batch, self._queue = self._queue, {}
            try:
                response = await self._controller_client.request(
                    self._request(batch), VERSION, timeout_ms=TIMEOUT_MS
                )
            except (KafkaError, ConnectionError, TimeoutError) as error:
                await self._requeue(batch, str(error))
                continue
            if response.error_code != ErrorCode.NONE:
                await self._requeue(batch, ErrorCode.of(response.error_code).name)
                continue
            self._retry_ms = RETRY_MS_MIN
            self._failures.reset()
            self._apply(batch, response)

    async def _requeue(self, batch: dict[Partition, _Proposal], reason: str) -> None:
        """Ask again, ever more rarely; a warning once, when it lasts."""
        self._metrics.failed_isr_updates.inc(len(batch))
        is_due = self._failures.is_due(int(asyncio.get_running_loop().time() * 1000))
        level = logging.WARNING if is_due else logging.DEBUG
        _log.log(level, "ISRs of %d partitions wait: %s", len(batch), reason)
        await asyncio.sleep(self._retry_ms / 1000)
        self._retry_ms = min(2 * self._retry_ms, RETRY_MS_MAX)
        for partition, proposal in batch.items():
            if partition.is_leader:
                self._queue.setdefault(partition, proposal)

    def _request(self, batch: dict[Partition, _Proposal]) -> AlterPartitionRequest:
        topics: dict[uuid.UUID, TopicData] = {}
        for partition, (proposal, epochs) in batch.items():
            topic = topics.get(partition.topic_id)
            if topic is None:
                topic = topics[partition.topic_id] = TopicData(
                    topic_name=partition.topic_partition.topic, topic_id=partition.topic_id
                )
            topic.partitions.append(
                PartitionData(
                    partition_index=partition.topic_partition.partition,
                    leader_epoch=partition.leader_epoch,
                    new_isr=list(proposal.new_isr),
                    new_isr_with_epochs=[
                        BrokerState(broker_id=broker_id, broker_epoch=epoch)
                        for broker_id, epoch in zip(proposal.new_isr, epochs, strict=True)
                    ],
                    partition_epoch=proposal.partition_epoch,
                )
            )
        return AlterPartitionRequest(
            broker_id=self._lifecycle.broker_id,
            broker_epoch=self._lifecycle.broker_epoch,
            topics=list(topics.values()),
        )

    def _apply(self, batch: dict[Partition, _Proposal], response: AlterPartitionResponse) -> None:
        answers = {
            (topic.topic_id, partition.partition_index): partition
            for topic in response.topics
            for partition in topic.partitions
        }
        metrics = self._metrics
        changed: list[Partition] = []
        joined: set[int] = set()
        left: set[int] = set()
        for partition in batch:
            answer = answers.get((partition.topic_id, partition.topic_partition.partition))
            if answer is None or answer.error_code != ErrorCode.NONE:
                code = ErrorCode.of(answer.error_code) if answer else ErrorCode.UNKNOWN_SERVER_ERROR
                _log.info("ISR of %s refused: %s", partition.topic_partition, code.name)
                metrics.failed_isr_updates.inc()
                partition.isr_rejected(code)
                continue
            before, after = set(partition.isr), set(answer.isr)
            partition.isr_committed(answer.isr, answer.partition_epoch)
            # Changes of an ISR, as in Kafka, however many replicas one of them is about.
            metrics.isr_shrinks.inc(bool(before - after))
            metrics.isr_expands.inc(bool(after - before))
            changed.append(partition)
            joined |= after - before
            left |= before - after
        if len(changed) > NAMED_MAX:
            _log.info(
                "ISRs of %d partitions changed, %s among them: joined %s, left %s",
                len(changed),
                changed[0].topic_partition,
                sorted(joined),
                sorted(left),
            )
            return
        for partition in changed:
            _log.info("ISR of %s is %s", partition.topic_partition, list(partition.isr))
