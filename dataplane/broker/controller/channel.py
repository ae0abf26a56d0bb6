"""The controller's channel to one broker: requests in order, repeated until it goes away."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from dataplane.cluster import requests
from dataplane.cluster.request_queue import BrokerRequestQueue, PendingRequests, RequestKind
from dataplane.cluster.responses import deletion_results, leader_and_isr_result
from dataplane.config.inter_broker import NEWEST
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.retry_warning import RetryWarning
from dataplane.wire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dataplane.broker.networking.peer_client import PeerPool
    from dataplane.cluster.image import BrokerInfo
    from dataplane.cluster.responses import DeletionResults, LeaderAndIsrResult
    from dataplane.config.inter_broker import InterBroker
    from dataplane.wire.messages.leader_and_isr import LeaderAndIsrResponse
    from dataplane.wire.messages.stop_replica import StopReplicaResponse
    from dataplane.wire.schema import Message

log = logging.getLogger(__name__)

_DENIED = (
    "; the brokers' own user on inter.broker.listener.name has to be one of super.users, or be"
    " granted ClusterAction (User:ANONYMOUS on a listener without a login)"
)

REQUEST_TIMEOUT_MS = 30_000
RETRY_MS_MIN, RETRY_MS_MAX = 20, 1_000


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
        sends: InterBroker = NEWEST,
    ) -> None:
        self.broker = broker
        self.queue = BrokerRequestQueue()
        self._term = requests.Term(controller_id, controller_epoch, broker.epoch)
        self._sends = sends
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
        for kind in pending.in_order():
            match kind:
                case RequestKind.UPDATE_METADATA:
                    await self._send_update_metadata(pending, brokers)
                case RequestKind.LEADER_AND_ISR:
                    await self._send_leader_and_isr(pending, brokers)
                case RequestKind.STOP_REPLICA:
                    await self._send_stop_replica(pending)

    async def _send_update_metadata(
        self, pending: PendingRequests, brokers: Mapping[int, BrokerInfo]
    ) -> None:
        message = requests.update_metadata(
            self._term, pending.update_metadata, brokers, full=pending.full
        )
        await self._send(message, self._sends.update_metadata)

    async def _send_leader_and_isr(
        self, pending: PendingRequests, brokers: Mapping[int, BrokerInfo]
    ) -> None:
        message = requests.leader_and_isr(
            self._term, pending.leader_and_isr, brokers, self._listener, full=pending.full
        )
        response: LeaderAndIsrResponse = await self._send(message, self._sends.leader_and_isr)
        answered = leader_and_isr_result(pending.leader_and_isr, response, self.broker.epoch)
        if answered is None:
            return
        result, refused = answered
        for partition, code in refused:
            log.warning(
                "broker %d could not take up %s: %s", self.broker.id, partition, error_name(code)
            )
        self._on_leader_and_isr(self.broker.id, result)

    async def _send_stop_replica(self, pending: PendingRequests) -> None:
        message = requests.stop_replica(self._term, pending.stop_replica.items())
        response: StopReplicaResponse = await self._send(message, self._sends.stop_replica)
        deleted = deletion_results(pending.stop_replica, response)
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
            code = ErrorCode.of(response.error_code)
            is_denied = code is ErrorCode.CLUSTER_AUTHORIZATION_FAILED
            log.warning(
                "broker %d refused %s: %s%s",
                self.broker.id,
                type(message).__name__,
                error_name(response.error_code),
                _DENIED if is_denied else "",
            )
        return response
