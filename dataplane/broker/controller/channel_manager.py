"""The controller's channels to the registered brokers: one for each registration."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dataplane.broker.controller.channel import ControllerChannel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataplane.broker.networking.peer_client import PeerPool
    from dataplane.cluster.context import ControllerContext
    from dataplane.cluster.image import BrokerInfo
    from dataplane.cluster.request_queue import BrokerRequestQueue
    from dataplane.cluster.responses import DeletionResults, LeaderAndIsrResult
    from dataplane.config.inter_broker import InterBroker

OTHERS_MS = 3_000
"""How long an answer waits for brokers other than the controller's to know of a change."""


class ControllerChannelManager:
    """Opens and closes channels; finds the request queue of a broker."""

    def __init__(
        self,
        context: ControllerContext,
        peers: PeerPool,
        *,
        controller_id: int,
        listener: str,
        on_deleted: Callable[[int, DeletionResults], None],
        on_leader_and_isr: Callable[[int, LeaderAndIsrResult], None],
        sends: InterBroker,
    ) -> None:
        self._context = context
        self._sends = sends
        self._peers = peers
        self._controller_id = controller_id
        self._listener = listener
        self._on_deleted = on_deleted
        self._on_leader_and_isr = on_leader_and_isr
        self._channels: dict[int, ControllerChannel] = {}

    def add_broker(self, broker: BrokerInfo) -> ControllerChannel:
        channel = ControllerChannel(
            broker,
            controller_id=self._controller_id,
            controller_epoch=self._context.epoch,
            peers=self._peers,
            listener=self._listener,
            live_brokers=lambda: self._context.brokers,
            on_deleted=self._on_deleted,
            on_leader_and_isr=self._on_leader_and_isr,
            sends=self._sends,
        )
        self._channels[broker.id] = channel
        return channel

    async def remove_broker(self, broker: int) -> None:
        """What was not sent is dropped."""
        channel = self._channels.pop(broker, None)
        if channel is not None:
            await channel.stop()

    async def stop(self) -> None:
        await asyncio.gather(*(channel.stop() for channel in self._channels.values()))

    def channel(self, broker: int) -> ControllerChannel | None:
        return self._channels.get(broker)

    def queue(self, broker: int) -> BrokerRequestQueue | None:
        """None for a broker that is not registered."""
        channel = self._channels.get(broker)
        return None if channel is None else channel.queue

    def queues(self) -> Iterable[tuple[int, BrokerRequestQueue]]:
        """By broker id."""
        return ((broker, channel.queue) for broker, channel in self._channels.items())

    def wake(self) -> None:
        """Send what was enqueued."""
        for channel in self._channels.values():
            if channel.queue:
                channel.wake()

    async def propagated(self, timeout_ms: int, *, required: int) -> bool:
        """Waits until every broker has carried out what was enqueued so far, but not for ever.

        Returns whether broker `required` has. It is waited for as long as `timeout_ms`; slow
        others are left behind after OTHERS_MS.
        """
        waits = {b: asyncio.ensure_future(c.delivered()) for b, c in self._channels.items()}
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
