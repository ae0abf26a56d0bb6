"""What a broker asks its peers while it does not hear ZooKeeper.

Cut off from ZooKeeper alone, a broker does not learn that its registration has ended and others
lead. Clients still reach it, and it would keep them: their acks=all writes wait for followers that
follow somebody else, and its metadata sends them back to it. Peers know better. A leader epoch
that is higher than ours was written to ZooKeeper before anybody spoke of it, so it proves that we
do not lead any more, whatever our clock says. Without such a proof nothing changes: when ZooKeeper
is gone for everybody, everybody goes on.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from typing import TYPE_CHECKING

from dataplane.broker.networking.peer_connection import PeerUnavailableError
from dataplane.model.ids import TopicPartition
from dataplane.ports.coordinator import SessionState
from dataplane.wire.errors import WireError
from dataplane.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataplane.broker.broker_lifecycle import BrokerLifecycle
    from dataplane.broker.metadata.metadata_cache import MetadataCache
    from dataplane.broker.networking.peer_client import PeerPool
    from dataplane.broker.replicas.replica_manager import ReplicaManager
    from dataplane.cluster.image import TopicImage
    from dataplane.model.partition import PartitionState
    from dataplane.ports.coordinator import Coordinator
    from dataplane.wire.messages.metadata import MetadataResponse, MetadataResponseTopic

_log = logging.getLogger(__name__)

VERSION = 12
EVERY_S = 1.0
TIMEOUT_MS = 2_000
TOPICS_MAX = 500
"""Of one question; more topics are asked for in turn."""


class PeerLeadershipCheck:
    """Asks one peer a second, only while the session is suspended and only about what we lead."""

    def __init__(
        self,
        coordinator: Coordinator,
        peers: PeerPool,
        metadata_cache: MetadataCache,
        replica_manager: ReplicaManager,
        lifecycle: BrokerLifecycle,
    ) -> None:
        self._coordinator = coordinator
        self._peers = peers
        self._metadata_cache = metadata_cache
        self._replica_manager = replica_manager
        self._lifecycle = lifecycle
        self._task: asyncio.Task[None] | None = None
        self._turn = 0

    def start(self) -> None:
        self._coordinator.on_session(self._on_session)

    async def stop(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _on_session(self, state: SessionState) -> None:
        if state is not SessionState.SUSPENDED:
            if self._task is not None:
                self._task.cancel()
                self._task = None
        elif self._task is None and not self._lifecycle.stopping:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(EVERY_S)
            try:
                await self._ask()
            except (PeerUnavailableError, TimeoutError, WireError) as error:
                _log.debug("no second opinion: %s", error)
            except Exception:  # noqa: BLE001 - one answer must not end the asking
                _log.exception("asking a peer for a second opinion failed")

    async def _ask(self) -> None:
        peers = sorted(self._metadata_cache.image.brokers.keys() - {self._lifecycle.broker_id})
        led = sorted({partition.topic_partition.topic for partition in self._replica_manager.led()})
        if not peers or not led:
            return
        self._turn += 1
        windows = [led[at : at + TOPICS_MAX] for at in range(0, len(led), TOPICS_MAX)]
        asked = windows[self._turn // len(peers) % len(windows)]
        answer: MetadataResponse = await self._peers.request(
            peers[self._turn % len(peers)],
            MetadataRequest(
                topics=[MetadataRequestTopic(name=topic) for topic in asked],
                allow_auto_topic_creation=False,
            ),
            VERSION,
            timeout_ms=TIMEOUT_MS,
        )
        self.take(answer)

    def take(self, answer: MetadataResponse) -> None:
        """Give up what somebody leads in a newer epoch, and answer clients who leads."""
        image = self._metadata_cache.image
        topics = dict(image.topics)
        changed = []
        for answered in answer.topics:
            known = image.topics.get(answered.name or "")
            if known is None or known.topic_id != answered.topic_id:
                continue
            newer = dict(_newer(known, answered))
            if not newer:
                continue
            states = tuple(newer.get(state.index, state) for state in known.partitions)
            topics[known.name] = dataclasses.replace(known, partitions=states)
            changed += [TopicPartition(known.name, index) for index in newer]
        if not changed:
            return
        self._metadata_cache.replace(
            dataclasses.replace(image, topics=topics, version=image.version + 1)
        )
        for topic_partition in changed:
            self._give_up(topic_partition, topics[topic_partition.topic])

    def _give_up(self, topic_partition: TopicPartition, topic: TopicImage) -> None:
        replica_manager = self._replica_manager
        state = topic.partitions[topic_partition.partition]
        mine = replica_manager.get(topic_partition)
        if mine is None or not mine.is_leader or mine.leader_epoch >= state.leader_epoch:
            return
        _log.warning(
            "%s is led by broker %d in epoch %d, say the peers; we led in epoch %d and stop",
            topic_partition,
            state.leader,
            state.leader_epoch,
            mine.leader_epoch,
        )
        replica_manager.stop_replica(topic_partition, -1, delete=False)


def _newer(
    known: TopicImage, answered: MetadataResponseTopic
) -> Iterator[tuple[int, PartitionState]]:
    """(index, state) of the partitions of which the peer knows a later leader epoch."""
    for partition in answered.partitions:
        if partition.partition_index >= len(known.partitions):
            continue
        before = known.partitions[partition.partition_index]
        if partition.leader_epoch > before.leader_epoch:
            yield (
                partition.partition_index,
                dataclasses.replace(
                    before,
                    leader=partition.leader_id,
                    leader_epoch=partition.leader_epoch,
                    replicas=tuple(partition.replica_nodes),
                    isr=tuple(partition.isr_nodes),
                    offline_replicas=tuple(partition.offline_replicas),
                ),
            )
