"""The controller's line to one broker: commands strictly in order, repeated until it goes away."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, NamedTuple

from dataplane.broker.networking.retry_warning import RetryWarning
from dataplane.cluster import requests
from dataplane.cluster.request_queue import BrokerRequestQueue, PendingRequests
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.wire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dataplane.broker.networking.peer_client import PeerPool
    from dataplane.cluster.image import BrokerInfo
    from dataplane.wire.messages.leader_and_isr import LeaderAndIsrResponse
    from dataplane.wire.messages.stop_replica import StopReplicaResponse
    from dataplane.wire.schema import Message

log = logging.getLogger(__name__)

REQUEST_TIMEOUT_MS = 30_000
RETRY_MS_MIN, RETRY_MS_MAX = 20, 1_000

DeletionResults = list[tuple[TopicPartition, bool]]
"""Replicas of deleted topics that a broker was told to delete, and whether it has. What a finished
reassignment dropped is not among them: a deletion that begins meanwhile has a stop of its own."""


class LeaderAndIsrResult(NamedTuple):
    """Which replicas a broker serves in the roles it was told, and which its disks do not let it.

    `broker_epoch` names the life of the broker that has answered.
    """

    broker_epoch: int
    failed: frozenset[TopicPartition]
    taken_up: frozenset[TopicPartition]


def error_name(code: int) -> str:
    """For the log; also of a code that we do not know."""
    return next((known.name for known in ErrorCode if known == code), str(code))


class ControllerChannel:
    """One broker's request queue and the task that empties it, for one of its registrations."""

    def __init__(
        self,
        broker: BrokerInfo,
        *,
        controller_id: int,
        controller_epoch: int,
        peers: PeerPool,
        listener: str,
        live_brokers: Callable[[], Mapping[int, BrokerInfo]],
        on_deleted: Callable[[int, DeletionResults], None],
        on_leader_and_isr: Callable[[int, LeaderAndIsrResult], None],
    ) -> None:
        self.broker = broker
        self.queue = BrokerRequestQueue()
        self._term = requests.Term(controller_id, controller_epoch, broker.epoch)
        self._peers = peers
        self._listener = listener
        self._live_brokers = live_brokers
        self._on_deleted = on_deleted
        self._on_leader_and_isr = on_leader_and_isr
        self._delivered_ticket = 0
        self._wake = asyncio.Event()
        self._progress = asyncio.Condition()
        self._stopped = False
        self._task = asyncio.get_running_loop().create_task(
            self._run(), name=f"controller-to-{broker.id}"
        )

    def wake(self) -> None:
        """Something was put into the queue."""
        self._wake.set()

    async def stop(self) -> None:
        self._stopped = True
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        async with self._progress:
            self._progress.notify_all()

    async def delivered(self) -> None:
        """Returns when all that was put into the queue is carried out, or the broker is gone."""
        ticket = self.queue.last_ticket
        async with self._progress:
            await self._progress.wait_for(lambda: self._stopped or self._delivered_ticket >= ticket)

    async def _run(self) -> None:
        while not self._stopped:
            await self._wake.wait()
            self._wake.clear()
            # Let the event that woke us finish filling the queue: one round instead of many.
            await asyncio.sleep(0)
            while self.queue:
                pending = self.queue.take()
                try:
                    await self._deliver(pending)
                except Exception:
                    log.exception("commands to broker %d could not be sent", self.broker.id)
                async with self._progress:
                    self._delivered_ticket = pending.last_ticket
                    self._progress.notify_all()

    async def _deliver(self, pending: PendingRequests) -> None:
        brokers = self._live_brokers()
        has_metadata = bool(pending.update_metadata) or pending.brokers_changed
        if has_metadata and pending.metadata_first:
            await self._send_update_metadata(pending, brokers)
        if pending.stop_replica and pending.full:
            # Before the broker sets aside what a full command does not name: this is to be deleted.
            await self._send_stop_replica(pending)
        if pending.leader_and_isr or pending.full:
            await self._send_leader_and_isr(pending, brokers)
        if has_metadata and not pending.metadata_first:
            await self._send_update_metadata(pending, brokers)
        if pending.stop_replica and not pending.full:
            await self._send_stop_replica(pending)

    async def _send_update_metadata(
        self, pending: PendingRequests, brokers: Mapping[int, BrokerInfo]
    ) -> None:
        message = requests.update_metadata(
            self._term, pending.update_metadata, brokers, full=pending.full
        )
        await self._send(message, requests.UPDATE_METADATA_VERSION)

    async def _send_leader_and_isr(
        self, pending: PendingRequests, brokers: Mapping[int, BrokerInfo]
    ) -> None:
        message = requests.leader_and_isr(
            self._term, pending.leader_and_isr, brokers, self._listener, full=pending.full
        )
        response: LeaderAndIsrResponse = await self._send(message, requests.LEADER_AND_ISR_VERSION)
        if response.error_code != ErrorCode.NONE:
            return
        errors = {
            (topic.topic_id, item.partition_index): item.error_code
            for topic in response.topics
            for item in topic.partition_errors
            if item.error_code != ErrorCode.NONE
        }
        failed: set[TopicPartition] = set()
        for partition, update in pending.leader_and_isr.items() if errors else ():
            code = errors.get((update.topic_id, partition.partition), ErrorCode.NONE)
            if code == ErrorCode.KAFKA_STORAGE_ERROR:
                failed.add(partition)
            elif code != ErrorCode.NONE:
                log.warning(
                    "broker %d could not take up %s: %s",
                    self.broker.id,
                    partition,
                    error_name(code),
                )
        taken_up = frozenset(pending.leader_and_isr.keys() - failed)
        self._on_leader_and_isr(
            self.broker.id, LeaderAndIsrResult(self.broker.epoch, frozenset(failed), taken_up)
        )

    async def _send_stop_replica(self, pending: PendingRequests) -> None:
        message = requests.stop_replica(self._term, pending.stop_replica.items())
        response: StopReplicaResponse = await self._send(message, requests.STOP_REPLICA_VERSION)
        failed = {
            TopicPartition(item.topic_name, item.partition_index)
            for item in response.partition_errors
            if item.error_code != ErrorCode.NONE
        }
        refused = response.error_code != ErrorCode.NONE
        deleted = [
            (partition, not refused and partition not in failed)
            for partition, stop in pending.stop_replica.items()
            if stop.delete and stop.leader_epoch == requests.DELETE_REGARDLESS_OF_EPOCH
        ]
        if deleted:
            self._on_deleted(self.broker.id, deleted)

    async def _send(self, message: Message, version: int) -> Any:
        """Repeats while the broker cannot be reached; its removal cancels us."""
        retry_ms = RETRY_MS_MIN
        failures = RetryWarning()
        endpoint = self.broker.listeners[self._listener]
        while True:
            try:
                response = await self._peers.request_to(
                    endpoint, message, version, timeout_ms=REQUEST_TIMEOUT_MS, channel="controller"
                )
            except (OSError, TimeoutError, WireError, KafkaError) as error:
                # Also a refused login: the broker may not have loaded its credentials yet.
                is_due = failures.is_due(asyncio.get_running_loop().time())
                level = logging.WARNING if is_due else logging.DEBUG
                log.log(level, "broker %d: %s; trying again", self.broker.id, error)
                await asyncio.sleep(retry_ms / 1000)
                retry_ms = min(retry_ms * 2, RETRY_MS_MAX)
            else:
                break
        if response.error_code != ErrorCode.NONE:
            log.warning(
                "broker %d refused %s: %s",
                self.broker.id,
                type(message).__name__,
                error_name(response.error_code),
            )
        return response
