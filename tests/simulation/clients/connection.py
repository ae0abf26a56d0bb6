"""A client's way to the cluster: metadata, one connection a broker, requests over the wire."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from random import Random
from typing import TYPE_CHECKING, Any, cast

from dataplane.broker.networking.peer_connection import PeerConnection
from dataplane.model.errors import ErrorCode
from dataplane.wire.apis import load
from dataplane.wire.codec import decode
from dataplane.wire.errors import WireError
from dataplane.wire.messages.metadata import MetadataRequest
from tests.simulation.machine import PORT
from tests.simulation.world.loop import HostLoop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataplane.broker.networking.peer_connection import FrameCallback
    from tests.simulation.simulation import Simulation

CONNECT_TIMEOUT_S = 1.0
REFRESH_S = 0.1


class UnknownOutcomeError(Exception):
    """The request was sent and no answer came."""


class NotSentError(Exception):
    """The request did not leave: nothing has happened."""


class GatheringTransport:
    """Hands everything on; while it gathers it keeps what is written, to be sent in one piece."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._gathered: bytes | None = None

    def write(self, data: bytes) -> None:
        if self._gathered is None:
            self._transport.write(data)
        else:
            self._gathered += data

    def abort(self) -> None:
        self._transport.abort()

    @contextlib.contextmanager
    def gathering(self) -> Iterator[None]:
        self._gathered = b""
        try:
            yield
        finally:
            data, self._gathered = self._gathered, None
        self._transport.write(data)


class BurstConnection(PeerConnection):
    """A connection to a broker that can send several requests by one write."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._gatherer = GatheringTransport(transport)
        super().connection_made(cast("asyncio.Transport", self._gatherer))

    def gathering(self) -> contextlib.AbstractContextManager[None]:
        """What is sent inside leaves together at the end."""
        return self._gatherer.gathering()


def _completes(future: asyncio.Future[Any], message: Any, version: int) -> FrameCallback:
    def arrived(frame: memoryview | None, position: int) -> None:
        if not future.done():
            answer = None
            if frame is not None:
                answer, _end = decode(load(message.API_KEY)[1], version, frame, position)
            future.set_result(answer)

    return arrived


class Client:
    """One client process."""

    def __init__(self, sim: Simulation, name: str) -> None:
        self.sim = sim
        self.name = name
        self.random: Random = sim.fork_random()
        self.loop = HostLoop(sim.scheduler, sim.network, name, name)
        self.loop.on_error = sim.on_loop_error(self.loop)
        self.leaders: dict[tuple[str, int], tuple[int, int]] = {}
        self.topic_ids: dict[str, uuid.UUID] = {}
        self.partition_counts: dict[str, int] = {}
        self.controller_id = -1
        self.live_brokers: list[int] = []
        self._connections: dict[tuple[int, str], BurstConnection] = {}
        self._refreshed_s = -1.0

    def spawn(self, coroutine: Any) -> None:
        self.loop.call_soon(lambda: self.loop.create_task(coroutine))

    async def connection(self, broker: int, channel: str = "") -> BurstConnection:
        """NotSentError when the broker cannot be reached."""
        found = self._connections.get((broker, channel))
        if found is not None and not found.closed:
            return found
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                _transport, made = await self.loop.create_connection(
                    lambda: BurstConnection(self.name), f"broker-{broker}", PORT
                )
        except (OSError, TimeoutError) as error:
            raise NotSentError(f"broker {broker}: {error!r}") from error
        self._connections[broker, channel] = made
        return made

    async def ask(
        self, broker: int, message: Any, version: int, *, timeout_ms: int = 2_000, channel: str = ""
    ) -> Any:
        """NotSentError, UnknownOutcomeError."""
        connection = await self.connection(broker, channel)
        try:
            return await connection.request(message, version, timeout_ms=timeout_ms)
        except TimeoutError as error:
            # As clients do: what comes later on this connection is not waited for.
            connection.close()
            raise UnknownOutcomeError(f"broker {broker} is silent") from error
        except (OSError, WireError) as error:
            raise UnknownOutcomeError(f"broker {broker}: {error!r}") from error

    async def ask_together(
        self, broker: int, messages: list[Any], version: int, *, timeout_ms: int
    ) -> list[Any]:
        """Send requests of one kind by one write; of each its answer, None if that is not known.

        NotSentError.
        """
        connection = await self.connection(broker)
        futures: list[asyncio.Future[Any]] = [self.loop.create_future() for _ in messages]
        with connection.gathering():
            for message, future in zip(messages, futures, strict=True):
                connection.send(message, version, _completes(future, message, version))
        _done, missing = await asyncio.wait(futures, timeout=timeout_ms / 1000)
        if missing:
            connection.close()
        return [None if future in missing else future.result() for future in futures]

    async def refresh(self) -> bool:
        """Ask any broker for metadata; whether one answered. At most once in a while."""
        while self.loop.time() - self._refreshed_s < REFRESH_S:
            await asyncio.sleep(REFRESH_S)
        self._refreshed_s = self.loop.time()
        broker = self.random.choice(sorted(self.sim.machines))
        request = MetadataRequest(topics=None, allow_auto_topic_creation=False)
        try:
            answer = await self.ask(broker, request, 12, timeout_ms=1_000, channel="metadata")
        except (NotSentError, UnknownOutcomeError):
            return False
        self.controller_id = answer.controller_id
        self.live_brokers = sorted(node.node_id for node in answer.brokers)
        for topic in answer.topics:
            if topic.error_code != ErrorCode.NONE or topic.name is None:
                continue
            if self.topic_ids.get(topic.name) != topic.topic_id:
                self.topic_ids[topic.name] = topic.topic_id
                for key in [key for key in self.leaders if key[0] == topic.name]:
                    del self.leaders[key]
            self.partition_counts[topic.name] = len(topic.partitions)
            for partition in topic.partitions:
                key = (topic.name, partition.partition_index)
                known = self.leaders.get(key)
                if known is None or partition.leader_epoch >= known[1]:
                    self.leaders[key] = (partition.leader_id, partition.leader_epoch)
        return True
