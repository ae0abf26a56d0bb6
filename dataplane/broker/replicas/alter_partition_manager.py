"""AlterPartition: proposed ISRs travel to the controller, one request at a time.

Proposals of many partitions that come due together share a request. The controller's word, or its
refusal, goes back to each partition's leader core; an answer that never comes is asked for again,
and meanwhile `PastController` does what can be done without it.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, NamedTuple

from dataplane.config.inter_broker import NEWEST
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
    from dataplane.broker.replicas.past_controller import PastController
    from dataplane.replication.effects import ProposeIsr
    from dataplane.wire.messages.alter_partition import AlterPartitionResponse

_log = logging.getLogger(__name__)

TIMEOUT_MS = 10_000
RETRY_MS_MIN, RETRY_MS_MAX = 50, 1_000
# Up to so many changes of one answer are logged by name.
NAMED_MAX = 3


class _Proposal(NamedTuple):
    """With the lives of its members when the leader decided (KIP-903): one that has begun another
    since may lack what it had, and the controller refuses it. `since_s` is the loop's time from
    which on the controller owes an answer.
    """

    isr: ProposeIsr
    epochs: tuple[int, ...]
    since_s: float


class AlterPartitionManager:
    """The queue of proposals and the task that carries it."""

    def __init__(
        self,
        controller_client: ControllerClient,
        metadata_cache: MetadataCache,
        metrics: Metrics,
        lifecycle: BrokerLifecycle,
        past_controller: PastController,
        *,
        version: int = NEWEST.alter_partition,
    ) -> None:
        """`version` is that of the request (`dataplane.config.inter_broker`)."""
        self._controller_client = controller_client
        self._metadata_cache = metadata_cache
        self._metrics = metrics
        self._lifecycle = lifecycle
        self.past_controller = past_controller
        self._version = version
        self._queue: dict[Partition, _Proposal] = {}
        self._open: dict[Partition, _Proposal] = {}
        """The queue and what is under way: a proposal that is not in here any more was settled."""
        self._task: asyncio.Task[None] | None = None
        self._retry_ms = RETRY_MS_MIN
        self._failures = RetryWarning()

    def propose(self, partition: Partition, proposal: ProposeIsr) -> None:
        """A later proposal of the same partition replaces one that has not left yet."""
        brokers = self._metadata_cache.image.brokers
        epochs = (brokers[each].epoch if each in brokers else -1 for each in proposal.new_isr)
        loop = asyncio.get_running_loop()
        made = _Proposal(proposal, tuple(epochs), loop.time())
        self._open[partition] = self._queue[partition] = made
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._run())
        self.past_controller.watch(self._open_since, self._close)

    def _open_since(self) -> dict[Partition, float]:
        return {partition: each.since_s for partition, each in self._open.items()}

    def _close(self, partition: Partition, since_s: float) -> None:
        """Settled: whatever the controller may still answer is about the past.

        But for a proposal that was made since: it is about what is true now.
        """
        proposal = self._open.get(partition)
        if proposal is not None and proposal.since_s == since_s:
            del self._open[partition]
            self._queue.pop(partition, None)

    async def stop(self) -> None:
        await self.past_controller.stop()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while self._queue and not self._lifecycle.stopping:
            batch, self._queue = self._queue, {}
            try:
                response = await self._controller_client.request(
                    self._request(batch), self._version, timeout_ms=TIMEOUT_MS
                )
            except (KafkaError, ConnectionError, TimeoutError) as error:
                await self._requeue(batch, str(error))
                continue
            if response.error_code != ErrorCode.NONE:
                self._answered(batch)
                await self._requeue(batch, ErrorCode.of(response.error_code).name)
                continue
            self._retry_ms = RETRY_MS_MIN
            self._failures.reset()
            self._apply(batch, response)

    def _answered(self, batch: dict[Partition, _Proposal]) -> None:
        """A controller that refuses is there: it is not passed by before it is silent again."""
        now_s = asyncio.get_running_loop().time()
        for partition, proposal in list(batch.items()):
            if self._open.get(partition) is proposal:
                self._open[partition] = batch[partition] = proposal._replace(since_s=now_s)

    async def _requeue(self, batch: dict[Partition, _Proposal], reason: str) -> None:
        """Ask again, ever more rarely; a warning once, when it lasts."""
        self._metrics.failed_isr_updates.inc(len(batch))
        is_due = self._failures.is_due(int(asyncio.get_running_loop().time() * 1000))
        level = logging.WARNING if is_due else logging.DEBUG
        _log.log(level, "ISRs of %d partitions wait: %s", len(batch), reason)
        await asyncio.sleep(self._retry_ms / 1000)
        self._retry_ms = min(2 * self._retry_ms, RETRY_MS_MAX)
        for partition, proposal in batch.items():
            if self._open.get(partition) is not proposal:
                continue
            if partition.is_leader:
                self._queue[partition] = proposal
            else:
                del self._open[partition]

    def _request(self, batch: dict[Partition, _Proposal]) -> AlterPartitionRequest:
        topics: dict[uuid.UUID, TopicData] = {}
        for partition, (proposal, epochs, _since_s) in batch.items():
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
        for partition, proposal in batch.items():
            if self._open.get(partition) is not proposal:
                continue
            del self._open[partition]
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
