"""The controller's line to one broker: commands strictly in order, repeated until it goes away."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, NamedTuple

from dataplane.cluster import requests
from dataplane.cluster.outbox import Outbox, Parcel
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.model.retry_warning import RetryWarning
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

Deleted = list[tuple[TopicPartition, bool]]
"""Replicas of deleted topics that a broker was told to delete, and whether it has. What a finished
reassignment dropped is not among them: a deletion that begins meanwhile has a stop of its own."""


class RolesAnswer(NamedTuple):
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
    """One broker's outbox and the task that empties it, for one registration of the broker."""

    def __init__(
        self,
        broker: BrokerInfo,
        *,
        controller_id: int,
        controller_epoch: int,
        peers: PeerPool,
        listener: str,
        live_brokers: Callable[[], Mapping[int, BrokerInfo]],
        on_deleted: Callable[[int, Deleted], None],
        on_roles: Callable[[int, RolesAnswer], None],
    ) -> None:
        self.broker = broker
        self.outbox = Outbox()
        self._term = requests.Term(controller_id, controller_epoch, broker.epoch)
        self._peers = peers
        self._listener = listener
        self._live_brokers = live_brokers
        self._on_deleted = on_deleted
        self._on_roles = on_roles
        self._delivered_ticket = 0
        self._wake = asyncio.Event()
        self._progress = asyncio.Condition()
        self._stopped = False
        self._task = asyncio.get_running_loop().create_task(
            self._run(), name=f"controller-to-{broker.id}"
        )

    def wake(self) -> None:
        """Something was put into the outbox."""
        self._wake.set()

    async def stop(self) -> None:
        self._stopped = True
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        async with self._progress:
            self._progress.notify_all()

    async def delivered(self) -> None:
        """Returns when all that was put into the outbox is carried out, or the broker is gone."""
        ticket = self.outbox.last_ticket
        async with self._progress:
            await self._progress.wait_for(lambda: self._stopped or self._delivered_ticket >= ticket)

    async def _run(self) -> None:
        while not self._stopped:
            await self._wake.wait()
            self._wake.clear()
            # Let the event that woke us finish filling the outbox: one parcel instead of many.
            await asyncio.sleep(0)
            while self.outbox:
                parcel = self.outbox.take()
                try:
                    await self._deliver(parcel)
                except Exception:
                    log.exception("commands to broker %d could not be sent", self.broker.id)
                async with self._progress:
                    self._delivered_ticket = parcel.last_ticket
                    self._progress.notify_all()

    async def _deliver(self, parcel: Parcel) -> None:
        brokers = self._live_brokers()
        has_metadata = bool(parcel.metadata) or parcel.brokers_changed
        if has_metadata and parcel.metadata_first:
            await self._send_metadata(parcel, brokers)
        if parcel.stops and parcel.full:
            # Before the broker sets aside what a full command does not name: this is to be deleted.
            await self._send_stops(parcel)
        if parcel.roles or parcel.full:
            await self._send_roles(parcel, brokers)
        if has_metadata and not parcel.metadata_first:
            await self._send_metadata(parcel, brokers)
        if parcel.stops and not parcel.full:
            await self._send_stops(parcel)

    async def _send_metadata(self, parcel: Parcel, brokers: Mapping[int, BrokerInfo]) -> None:
        message = requests.update_metadata(self._term, parcel.metadata, brokers, full=parcel.full)
        await self._send(message, requests.UPDATE_METADATA_VERSION)

    async def _send_roles(self, parcel: Parcel, brokers: Mapping[int, BrokerInfo]) -> None:
        message = requests.leader_and_isr(
            self._term, parcel.roles, brokers, self._listener, full=parcel.full
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
        for partition, notice in parcel.roles.items() if errors else ():
            code = errors.get((notice.topic_id, partition.partition), ErrorCode.NONE)
            if code == ErrorCode.KAFKA_STORAGE_ERROR:
                failed.add(partition)
            elif code != ErrorCode.NONE:
                log.warning(
                    "broker %d could not take up %s: %s",
                    self.broker.id,
                    partition,
                    error_name(code),
                )
        taken_up = frozenset(parcel.roles.keys() - failed)
        self._on_roles(self.broker.id, RolesAnswer(self.broker.epoch, frozenset(failed), taken_up))

    async def _send_stops(self, parcel: Parcel) -> None:
        message = requests.stop_replica(self._term, parcel.stops.items())
        response: StopReplicaResponse = await self._send(message, requests.STOP_REPLICA_VERSION)
        failed = {
            TopicPartition(item.topic_name, item.partition_index)
            for item in response.partition_errors
            if item.error_code != ErrorCode.NONE
        }
        refused = response.error_code != ErrorCode.NONE
        deleted = [
            (partition, not refused and partition not in failed)
            for partition, stop in parcel.stops.items()
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
                is_due = failures.is_due(int(asyncio.get_running_loop().time() * 1000))
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
