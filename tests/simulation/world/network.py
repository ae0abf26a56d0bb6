"""Byte streams between simulated machines: ordered, late, cut, and broken off.

A cut link holds bytes back, as TCP's retransmissions do: they arrive when it is mended. Each
direction of a link is cut by itself. What a dead process had sent still arrives.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections import deque
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.simulation.world.loop import HostLoop
    from tests.simulation.world.scheduler import Scheduler

LATENCY_MIN_S, LATENCY_MAX_S = 0.0002, 0.002
SPLIT_CHANCE = 0.03
RETRANSMIT_MAX_S = 1.5


@dataclasses.dataclass(slots=True)
class Link:
    """One direction between two machines."""

    is_cut: bool = False
    extra_s: float = 0.0
    stalled: list[Callable[[], None]] = dataclasses.field(default_factory=list)


class SimSocket:
    """A bound port, as `Listeners` holds it."""

    def __init__(self, network: Network, address: tuple[str, int]) -> None:
        self._network = network
        self.address = address

    def getsockname(self) -> tuple[str, int]:
        return self.address

    def close(self) -> None:
        self._network.unbind(self.address)


class SimServer:
    def __init__(self, network: Network, address: tuple[str, int]) -> None:
        self._network, self._address = network, address

    def close(self) -> None:
        self._network.listeners.pop(self._address, None)


class Network:
    """All machines' connections. `digest` is a running checksum of every byte delivered."""

    def __init__(self, scheduler: Scheduler, random: Random) -> None:
        self._scheduler = scheduler
        self._random = random
        self._links: dict[tuple[str, str], Link] = {}
        self._bound: dict[tuple[str, int], HostLoop] = {}
        self._ends: dict[int, Transport] = {}
        self._numbers = 0
        self.listeners: dict[tuple[str, int], tuple[HostLoop, Any]] = {}
        self.powerless: set[str] = set()
        self.digest = 0
        self.deliveries = 0
        self.after_delivery: Callable[[], None] = lambda: None

    # -- links

    def link(self, source: str, target: str) -> Link:
        link = self._links.get((source, target))
        if link is None:
            link = self._links[source, target] = Link()
        return link

    def latency_s(self, link: Link) -> float:
        return self._random.uniform(LATENCY_MIN_S, LATENCY_MAX_S) + link.extra_s

    def cut(self, source: str, target: str) -> None:
        self.link(source, target).is_cut = True

    def mend(self, source: str, target: str) -> None:
        """Held bytes go on, each stream when its next retransmission comes."""
        link = self.link(source, target)
        link.is_cut, link.extra_s = False, 0.0
        stalled, link.stalled = link.stalled, []
        for resume in stalled:
            resume()

    def reset_between(self, one: str, other: str) -> int:
        """Break every connection between two machines; how many there were."""
        count = 0
        for end in list(self._ends.values()):
            if end.loop.machine == one and end.peer.loop.machine == other:
                end.break_off()
                end.peer.break_off()
                count += 1
        return count

    # -- what the loops ask for

    def bind(self, loop: HostLoop, host: str, port: int) -> SimSocket:
        address = (host, port)
        holder = self._bound.get(address)
        if holder is not None and not holder.is_dead and holder is not loop:
            raise OSError(98, f"{host}:{port} is taken")
        self._bound[address] = loop
        return SimSocket(self, address)

    def unbind(self, address: tuple[str, int]) -> None:
        self._bound.pop(address, None)
        self.listeners.pop(address, None)

    def listen(self, loop: HostLoop, factory: Any, bound: SimSocket) -> SimServer:
        self.listeners[bound.address] = (loop, factory)
        return SimServer(self, bound.address)

    async def connect(self, loop: HostLoop, factory: Any, host: str, port: int) -> Any:
        future = loop.create_future()
        there, back = self.link(loop.machine, host), self.link(host, loop.machine)

        def arrive() -> None:
            """The first packet reaches the other machine, or is lost and sent again."""
            if loop.is_dead or future.done():
                return
            for link in (there, back):
                if link.is_cut:
                    link.stalled.append(lambda: self._after(self._random.uniform(0, 1), arrive))
                    return
            if host in self.powerless:
                return  # nobody answers; the caller's own timeout ends it
            entry = self.listeners.get((host, port))
            if entry is None or entry[0].is_dead:
                refused = ConnectionRefusedError(111, f"nobody listens at {host}:{port}")
                loop.call_later(self.latency_s(back), _fail, future, refused)
                return
            server_loop, server_factory = entry
            ours = Transport(self, loop)
            theirs = Transport(self, server_loop)
            ours.peer, theirs.peer = theirs, ours
            server_loop.call_soon(theirs.start, server_factory)
            loop.call_later(self.latency_s(back), _succeed, future, ours)

        self._after(self.latency_s(there), arrive)
        transport: Transport = await future
        protocol = factory()
        transport.adopt(protocol)
        return transport, protocol

    def _after(self, delay_s: float, callback: Callable[[], None]) -> None:
        self.wire.call_later(delay_s, callback)

    wire: HostLoop  # a loop that is never paused: the cables themselves

    # -- process ends

    def process_ended(self, loop: HostLoop, *, silently: bool) -> None:
        """Its sockets close; with `silently` (power lost) nobody is notified."""
        for address, holder in list(self._bound.items()):
            if holder is loop:
                self.unbind(address)
        for end in list(self._ends.values()):
            if end.loop is loop:
                end.is_open = False
                self._ends.pop(end.number, None)
                if not silently:
                    end.hang_up(reset=True)
                elif end.peer.has_bytes_on_the_way:
                    end.peer.retransmit()

    # -- bookkeeping of transports

    def register(self, end: Transport) -> int:
        self._numbers += 1
        self._ends[self._numbers] = end
        return self._numbers

    def forget(self, end: Transport) -> None:
        self._ends.pop(end.number, None)

    def split(self, data: bytes) -> list[bytes]:
        if len(data) > 1 and self._random.random() < SPLIT_CHANCE:
            at = self._random.randrange(1, len(data))
            return [data[:at], data[at:]]
        return [data]

    def retransmit_s(self) -> float:
        return self._random.uniform(0, RETRANSMIT_MAX_S)

    def note(self, data: bytes) -> None:
        self.deliveries += 1
        self.digest = zlib.crc32(data, self.digest)


class Transport:
    """One end of a connection: asyncio's transport for a (buffered) protocol."""

    def __init__(self, network: Network, loop: HostLoop) -> None:
        self.network = network
        self.loop = loop
        self.peer: Transport
        self.is_open = True
        self.number = network.register(self)
        self._protocol: Any = None
        self._outbox: deque[bytes | None] = deque()  # None: end of stream
        self._is_stalled = False
        self._last_arrival_s = 0.0
        self._inbox: deque[bytes] = deque()
        self._reading = True
        self._lost = False
        self._lost_by: Exception | None = None

    # -- starting

    def start(self, factory: Any) -> None:
        self.adopt(factory())

    def adopt(self, protocol: Any) -> None:
        self._protocol = protocol
        protocol.connection_made(self)
        if self._lost:  # it broke before the protocol was there to hear of it
            self.loop.call_soon(protocol.connection_lost, self._lost_by)
        self._feed()

    # -- asyncio's side

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        if name == "peername":
            return (self.peer.loop.machine, 40_000)
        return default

    def write(self, data: Any) -> None:
        if self.is_open and data:
            for part in self.network.split(bytes(data)):
                self._outbox.append(part)
            self._push()

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return not self.is_open

    def pause_reading(self) -> None:
        self._reading = False

    def resume_reading(self) -> None:
        self._reading = True
        self.loop.call_soon(self._feed)

    def close(self) -> None:
        if self.is_open:
            self.is_open = False
            self.hang_up(reset=False)
            self.loop.call_soon(self._connection_lost, None)

    def abort(self) -> None:
        if self.is_open:
            self.is_open = False
            self.hang_up(reset=True)
            self.loop.call_soon(self._connection_lost, None)

    # -- the cable

    def hang_up(self, *, reset: bool) -> None:
        """Notify the other end, behind the bytes that are still on their way."""
        if reset and self._is_stalled:
            self._outbox.clear()
        self._outbox.append(None)
        self._push()

    def _push(self) -> None:
        link = self.network.link(self.loop.machine, self.peer.loop.machine)
        if link.is_cut:
            if not self._is_stalled:
                self._is_stalled = True
                link.stalled.append(self._unstall)
            return
        if self._is_stalled:
            return
        if self.peer.loop.is_dead:
            self._outbox.clear()
            self.retransmit()
            return
        while self._outbox:
            data = self._outbox.popleft()
            now_s = self.loop.time()
            at_s = max(self._last_arrival_s, now_s + self.network.latency_s(link))
            self._last_arrival_s = at_s
            self.peer.loop.call_at(at_s, self.peer.arrived, data)

    @property
    def has_bytes_on_the_way(self) -> bool:
        return self._last_arrival_s > self.loop.time()

    def retransmit(self) -> None:
        """The other process is gone: once its machine answers again, it answers with a reset."""

        def again() -> None:
            if not self.is_open:
                return
            there, back = self.loop.machine, self.peer.loop.machine
            network = self.network
            lost = back in network.powerless
            if lost or network.link(there, back).is_cut or network.link(back, there).is_cut:
                network.wire.call_later(0.2 + network.retransmit_s(), again)
            else:
                self.loop.call_soon(self.break_off)

        self.network.wire.call_later(self.network.retransmit_s() / 100, again)

    def _unstall(self) -> None:
        def resume() -> None:
            self._is_stalled = False
            self._push()

        self.network.wire.call_later(self.network.retransmit_s(), resume)

    def arrived(self, data: bytes | None) -> None:
        if not self.is_open:
            return
        if data is None:
            self.is_open = False
            self._connection_lost(None)
            return
        self.network.note(data)
        self._inbox.append(data)
        self._feed()

    def _feed(self) -> None:
        protocol = self._protocol
        while self._inbox and self._reading and self.is_open and protocol is not None:
            data = self._inbox.popleft()
            space = protocol.get_buffer(-1)
            count = min(len(space), len(data))
            space[:count] = data[:count]
            if count < len(data):
                self._inbox.appendleft(data[count:])
            protocol.buffer_updated(count)

    def break_off(self) -> None:
        """The connection breaks under both ends (RST)."""
        if self.is_open:
            self.is_open = False
            self._outbox.clear()
            error = ConnectionResetError(104, "connection reset")
            self.loop.call_soon(self._connection_lost, error)

    def _connection_lost(self, error: Exception | None) -> None:
        if not self._lost:
            self._lost, self._lost_by = True, error
            self.network.forget(self)
            if self._protocol is not None:
                self._protocol.connection_lost(error)


def _succeed(future: Any, transport: Transport) -> None:
    if future.done():
        transport.abort()
    else:
        future.set_result(transport)


def _fail(future: Any, error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
