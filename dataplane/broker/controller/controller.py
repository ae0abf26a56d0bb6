"""One term of an active controller: its memory, its writes, its lines to the brokers.

What happens in a term (`controller_events`, `controller_topics`, …) runs one after another on the
controller host's queue: read memory, decide by the pure functions of `dataplane.cluster`, write to
ZooKeeper, then change memory and tell the brokers. When a write's outcome is unknown the term is
loaded afresh from ZooKeeper.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from typing import TYPE_CHECKING

from dataplane.broker.controller.channel import ControllerChannel
from dataplane.broker.controller.writes import write
from dataplane.cluster.context import NEVER_LED, ControllerContext
from dataplane.cluster.replica_state_machine import ReplicaStateMachine
from dataplane.cluster.requests import MetadataUpdate, Stop
from dataplane.cluster.writes import (
    by_topic,
    created_with_epoch,
    state_op,
    topic_op,
    with_epoch,
)
from dataplane.model.ids import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from dataplane.broker.controller.channel import DeletionResults, LeaderAndIsrResult
    from dataplane.broker.services import BrokerServices
    from dataplane.cluster.failover import Changes
    from dataplane.cluster.image import BrokerInfo
    from dataplane.model.partition import PartitionState
    from dataplane.ports.coordinator import Op

log = logging.getLogger(__name__)

OTHERS_MS = 3_000
"""How long an answer waits for brokers other than the controller's to hear of a change."""


class Controller:
    """The active controller's state and the three things that it does: write, remember, tell."""

    def __init__(
        self,
        services: BrokerServices,
        context: ControllerContext,
        *,
        listener: str,
        on_deleted: Callable[[int, DeletionResults], None],
        on_leader_and_isr: Callable[[int, LeaderAndIsrResult], None],
    ) -> None:
        self.services = services
        self.coordinator = services.coordinator
        self.context = context
        self.deletions = ReplicaStateMachine()
        self.deletion_waiters: dict[str, list[asyncio.Future[None]]] = {}
        self.channels: dict[int, ControllerChannel] = {}
        self._listener = listener
        self._on_deleted = on_deleted
        self._on_leader_and_isr = on_leader_and_isr
        self.ask_again_at_ms = 0
        self.ask_again_in_ms = 0

    async def stop(self) -> None:
        for waiters in self.deletion_waiters.values():
            for waiter in waiters:
                waiter.cancel()
        await asyncio.gather(*(channel.stop() for channel in self.channels.values()))

    def open_channel(self, broker: BrokerInfo) -> ControllerChannel:
        channel = ControllerChannel(
            broker,
            controller_id=self.services.broker_id,
            controller_epoch=self.context.epoch,
            peers=self.services.peers,
            listener=self._listener,
            live_brokers=lambda: self.context.brokers,
            on_deleted=self._on_deleted,
            on_leader_and_isr=self._on_leader_and_isr,
        )
        self.channels[broker.id] = channel
        return channel

    async def close_channel(self, broker: int) -> None:
        channel = self.channels.pop(broker, None)
        if channel is not None:
            await channel.stop()

    # -- writing --------------------------------------------------------------------------------

    async def write(self, groups: Iterable[Sequence[Op]]) -> None:
        """Raises ControllerMovedError, OutcomeUnknownError."""
        await write(self.coordinator, self.context.epoch_version, groups)

    async def apply(self, changes: Changes, *, assignments: bool = False) -> Changes:
        """Write new states and take them up; nobody is told yet. Returns them as written.

        With `assignments` the replica sets changed too: the topics' nodes are written in the same
        multi as their partitions' states.
        """
        stamped = {p: self._stamped(p, state) for p, state in changes.items()}
        await self.write(self._groups(stamped, assignments=assignments))
        for partition, state in stamped.items():
            self.context.put(partition, state)
        return stamped

    async def commit(
        self,
        changes: Changes,
        *,
        assignments: bool = False,
        new_on: Collection[tuple[TopicPartition, int]] = (),
        metadata_only: bool = False,
    ) -> None:
        """Write new states, take them up, tell the brokers.

        `new_on`: replicas that have no data yet. `metadata_only`: the leader knows by itself.
        """
        if not changes:
            return
        stamped = await self.apply(changes, assignments=assignments)
        if metadata_only:
            self.enqueue_metadata_update(stamped)
        else:
            self.enqueue(stamped, new_on=new_on)
        self.wake()

    def _stamped(self, partition: TopicPartition, state: PartitionState) -> PartitionState:
        before = self.context.state(partition)
        never_led = before is None or before.leader_epoch == NEVER_LED
        return (created_with_epoch if never_led else with_epoch)(state, self.context.epoch)

    def _groups(self, stamped: Changes, *, assignments: bool) -> list[list[Op]]:
        groups: list[list[Op]] = []
        for name, states in by_topic(stamped.items()).items():
            topic = self.context.topics[name]
            ops = [state_op(name, topic.partitions[i], after) for i, after in states.items()]
            if assignments:
                groups.append([*ops, topic_op(topic, states)])
            else:
                groups.extend([op] for op in ops)
        return groups

    # -- telling --------------------------------------------------------------------------------

    def metadata_update(self, partition: TopicPartition) -> MetadataUpdate:
        topic = self.context.topics[partition.topic]
        return MetadataUpdate(
            topic.partitions[partition.partition],
            topic.topic_id,
            deleting=self.context.is_deletion_started(partition.topic),
            offline=self.context.offline_replicas(partition),
        )

    def enqueue(
        self,
        partitions: Iterable[TopicPartition],
        *,
        new_on: Collection[tuple[TopicPartition, int]] = (),
    ) -> None:
        """Roles to the replicas, metadata to all; one update a partition serves all of them."""
        for partition in partitions:
            update = self.metadata_update(partition)
            for replica in update.state.replicas:
                is_new = bool(new_on) and (partition, replica) in new_on
                self._give_role(
                    partition,
                    replica,
                    dataclasses.replace(update, is_new=True) if is_new else update,
                )
            self._give_metadata(partition, update)

    def enqueue_leader_and_isr(self, partition: TopicPartition, replica: int) -> None:
        """To one replica, if its broker is live and the topic is there to stay."""
        self._give_role(partition, replica, self.metadata_update(partition))

    def enqueue_metadata_update(self, partitions: Iterable[TopicPartition]) -> None:
        for partition in partitions:
            self._give_metadata(partition, self.metadata_update(partition))

    def _give_role(self, partition: TopicPartition, replica: int, update: MetadataUpdate) -> None:
        channel = self.channels.get(replica)
        if channel is None or update.deleting or update.state.leader_epoch == NEVER_LED:
            return
        channel.queue.add_leader_and_isr(partition, update)

    def _give_metadata(self, partition: TopicPartition, update: MetadataUpdate) -> None:
        for channel in self.channels.values():
            channel.queue.add_update_metadata(partition, update)

    def enqueue_stop_replica(
        self, partition: TopicPartition, replicas: Iterable[int], stop: Stop
    ) -> None:
        for replica in replicas:
            channel = self.channels.get(replica)
            if channel is not None:
                channel.queue.add_stop_replica(partition, stop)

    def wake(self) -> None:
        """Send what was told."""
        for channel in self.channels.values():
            if channel.queue:
                channel.wake()

    async def propagated(self, timeout_ms: int, *, required: int) -> bool:
        """Waits until every broker has carried out what it was told so far, but not for ever.

        Returns whether broker `required` has. It is waited for as long as `timeout_ms`; slow
        others are left behind after OTHERS_MS.
        """
        waits = {b: asyncio.ensure_future(c.delivered()) for b, c in self.channels.items()}
        patience_ms = min(timeout_ms, OTHERS_MS)
        if waits:
            await asyncio.wait(waits.values(), timeout=max(0, patience_ms) / 1000)
        own = waits.get(required)
        if own is not None and not own.done():
            await asyncio.wait([own], timeout=max(0, timeout_ms - patience_ms) / 1000)
        reached = own is None or own.done()
        for waiting in waits.values():
            waiting.cancel()
        return reached

    # -- policy ---------------------------------------------------------------------------------

    def unclean_allowed(self, topic: str) -> bool:
        return self.services.configs.topic_config(topic).get_bool("unclean.leader.election.enable")
