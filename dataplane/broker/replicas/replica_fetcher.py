"""One leading broker's fetcher: carries out what the fetcher core decides.

The next request leaves in the very call that handled the last answer, so a busy partition is
replicated without waiting for the loop. When a partition is added while a request is parked at the
leader, a new request goes out on another connection; the parked answer is used if it still fits.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from dataplane.broker.networking.peer_client import FETCH_CHANNEL
from dataplane.broker.replicas.follower_effects import carry_out
from dataplane.broker.replicas.replica_fetcher_wire import fetch_request, leader_bounds
from dataplane.config.inter_broker import PROTOCOL_KEY, sends_at
from dataplane.replication.effects import FetchFailed, PartitionFailed, Truncated
from dataplane.replication.fetcher import FetcherCore, RetryLater, SendFetch
from dataplane.timing.purgatory import DelayedOperation
from dataplane.wire.codec import decode
from dataplane.wire.errors import WireError
from dataplane.wire.messages.fetch import FetchResponse

if TYPE_CHECKING:
    from dataplane.broker.delayed.purgatory import DelayedOperationPurgatory
    from dataplane.broker.networking.peer_connection import PeerConnection
    from dataplane.broker.replicas.fetcher_context import FetcherContext
    from dataplane.broker.replicas.partition import Partition
    from dataplane.replication.fetch_session_handler import FetchRequestData, PartitionKey

_log = logging.getLogger(__name__)

# Requests of a fetcher under way at once: at most one on each of so many connections.
CHANNELS_MAX = 4


class _Awaited(DelayedOperation):
    """An answer that is waited for; after replica.socket.timeout.ms its connection is given up."""

    __slots__ = ("_connection", "_leader_id")

    def __init__(self, connection: PeerConnection, leader_id: int) -> None:
        super().__init__()
        self._connection = connection
        self._leader_id = leader_id

    def try_complete(self) -> None:
        """Never asked: it watches no list, only its deadline."""

    def expire(self) -> None:
        _log.warning("broker %d leaves a fetch unanswered: connecting again", self._leader_id)
        self._connection.close()


class ReplicaFetcher:
    """Fetches from `leader_id` for as long as anything is followed there.

    Fetchers of one leader differ by `number`: each has its own connections and session.
    """

    def __init__(
        self,
        context: FetcherContext,
        leader_id: int,
        number: int,
        *,
        purgatory: DelayedOperationPurgatory,
    ) -> None:
        self._context = context
        self._leader_id = leader_id
        self._channels = [f"{FETCH_CHANNEL}-{number}-{each}" for each in range(CHANNELS_MAX)]
        self._purgatory = purgatory
        config = context.config
        self._version = sends_at(config.get_str(PROTOCOL_KEY)).fetch
        wait_max_ms = config.get_int("replica.fetch.wait.max.ms")
        self._answer_ms = max(config.get_int("replica.socket.timeout.ms"), wait_max_ms)
        self._backoff_max_ms = config.get_int("replica.fetch.backoff.ms")
        self._core: FetcherCore[Partition] = FetcherCore(
            carry_out=carry_out,
            quota=context.quota,
            wait_max_ms=wait_max_ms,
            backoff_max_ms=self._backoff_max_ms,
        )
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._stopped = False
        self._parked: set[str] = set()
        self._task = self._loop.create_task(
            self._run(), name=f"replica fetcher {number} of broker {leader_id}"
        )

    # -- the replica manager's calls

    @property
    def is_empty(self) -> bool:
        return self._core.is_empty

    @property
    def lags(self) -> list[int]:
        """Of each partition, records up to the leader's high watermark at the last answer."""
        return [state.lag for state in self._core.states.values()]

    @property
    def failed(self) -> int:
        """Partitions that are left out for a while."""
        return self._core.failed_count

    def add(self, partition: Partition) -> None:
        """Follow it; if it was followed before, the leader has to say everything again."""
        self._core.add(partition)
        self._changed.set()

    def remove(self, key: PartitionKey) -> None:
        self._core.remove(key)

    def wake(self) -> None:
        """What held fetches back may be gone: ask again without waiting out a backoff."""
        if self._core.wake():
            self._changed.set()

    def stop(self) -> None:
        self._stopped = True
        self._task.cancel()

    async def wait_stopped(self) -> None:
        await asyncio.gather(self._task, return_exceptions=True)

    # -- the chain of requests

    def _now_ms(self) -> int:
        return int(self._loop.time() * 1000)

    async def _run(self) -> None:
        """Start a chain whenever the set of partitions changes or the last chain has ended."""
        while not self._stopped:
            await self._changed.wait()
            # Commands of the controller name many partitions: take them up together.
            await asyncio.sleep(0)
            self._changed.clear()
            try:
                await self._fetch_bounds()
                await self._start_chain()
            except (ConnectionError, TimeoutError, WireError) as error:
                self._wait(self._core.on_unreachable(str(error), self._now_ms()))
                self._report()
            except Exception:  # noqa: BLE001 - else the partitions followed here stand still for good
                _log.exception("fetching from broker %d", self._leader_id)
                self._wait(self._core.pause())

    async def _start_chain(self) -> None:
        channel = next((name for name in self._channels if name not in self._parked), None)
        if channel is None:
            self._wait(self._core.pause())
            return
        peers = self._context.peers
        connection = await peers.connection(peers.endpoint(self._leader_id), channel=channel)
        self._carry_on(connection, channel, self._now_ms())

    def _carry_on(self, connection: PeerConnection, channel: str, now_ms: int) -> None:
        """Take the next step of the chain."""
        step = self._core.next_step(now_ms)
        if type(step) is SendFetch:
            self._send(step, connection, channel)
        elif isinstance(step, RetryLater):
            self._wait(step)
        else:
            self._changed.set()  # bounds are asked for by the task

    def _wait(self, retry: RetryLater) -> None:
        self._loop.call_later(retry.delay_ms / 1000, self._changed.set)

    def _send(self, fetch: SendFetch, connection: PeerConnection, channel: str) -> None:
        request, loop = fetch.request, self._loop
        self._parked.add(channel)
        awaited = _Awaited(connection, self._leader_id)
        self._purgatory.add(awaited, self._answer_ms)

        def arrived(frame: memoryview | None, position: int) -> None:
            awaited.end()
            self._parked.discard(channel)
            if self._stopped:
                return
            now_ms = int(loop.time() * 1000)
            self._take(frame, position, request, now_ms)
            if request is self._core.newest:
                self._carry_on(connection, channel, now_ms)

        message = fetch_request(self._context, request, wait_ms=fetch.wait_ms)
        connection.send(message, self._version, arrived)

    def _take(
        self, frame: memoryview | None, position: int, request: FetchRequestData, now_ms: int
    ) -> None:
        """Handle one answer, or that none will come."""
        core, metrics = self._core, self._context.metrics
        if frame is None:
            metrics.replication_fetches_lost.inc()
            core.on_lost(request, now_ms)
        else:
            try:
                response, _end = decode(FetchResponse, self._version, frame, position)
            except WireError as error:
                _log.warning("broker %d's answer cannot be read: %s", self._leader_id, error)
                core.on_unreadable(request)
            else:
                metrics.replication_bytes_in.value += core.on_response(request, response, now_ms)
        if core.reports:
            self._report()

    async def _fetch_bounds(self) -> None:
        """Ask the leader for its log's bounds where ours lies outside them."""
        core = self._core
        while (wanted := core.bounds_to_fetch()) is not None:
            bounds = await leader_bounds(self._context, self._leader_id, wanted.state)
            core.on_leader_bounds(wanted.state, bounds, self._now_ms())
            self._report()

    # -- metrics and logs

    def _report(self) -> None:
        reports = self._core.reports
        for report in reports:
            match report:
                case Truncated():
                    self._report_truncated(report)
                case PartitionFailed():
                    self._report_failed(report)
                case FetchFailed(reason, is_refusal, is_warning):
                    if is_refusal:
                        self._context.metrics.replication_refusals.inc()
                    level = logging.WARNING if is_warning else logging.DEBUG
                    _log.log(level, "fetching from broker %d: %s", self._leader_id, reason)
        reports.clear()

    def _report_truncated(self, report: Truncated) -> None:
        (end_before, epoch_before), (end, _epoch) = report.before, report.after
        if end != end_before:
            _log.info("%s: truncated from %d to %d", report.topic_partition, end_before, end)
        else:
            _log.info(
                "%s: dropped epoch %d, which began at its end",
                report.topic_partition,
                epoch_before,
            )

    def _report_failed(self, report: PartitionFailed) -> None:
        metrics = self._context.metrics
        (metrics.truncation_circles if report.is_circle else metrics.replication_refusals).inc()
        level = logging.DEBUG
        if report.is_warning:
            level = logging.WARNING if report.cause is None else logging.ERROR
        _log.log(
            level,
            "%s turns in a circle behind broker %d: %s; asking every %.1f s at most"
            if report.is_circle
            else "%s does not get on behind broker %d: %s; asking every %.1f s at most",
            report.topic_partition,
            self._leader_id,
            report.reason,
            self._backoff_max_ms / 1000,
            exc_info=report.cause if report.is_warning else None,
        )
