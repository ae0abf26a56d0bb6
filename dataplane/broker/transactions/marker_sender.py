"""WriteTxnMarkers to the leaders of a decided transaction's partitions, until each has one.

There is no giving up: the decision is in the log. What is bounded is how much is under way (one
request a broker, `MARKERS_PER_REQUEST_MAX` transactions in it) and how often a refusal is tried
again (after `RETRY_MS`, twice that, … up to `RETRY_MS_MAX`). A shard that is unloaded drops its
jobs; the next coordinator sends them.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from dataplane.broker.transactions.marker_queue import (
    GONE,
    NOWHERE,
    MarkerJob,
    MarkerQueue,
    by_topic,
    destination,
)
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.model.retry_warning import RetryWarning
from dataplane.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataplane.broker.metadata.metadata_cache import MetadataCache
    from dataplane.broker.metrics import Metrics
    from dataplane.broker.networking.peer_client import PeerPool
    from dataplane.cluster.image import ClusterImage
    from dataplane.ports.clock import Clock
    from dataplane.transactions.markers import Markers
    from dataplane.wire.messages.write_txn_markers import WriteTxnMarkersResponse

_log = logging.getLogger(__name__)

VERSION: Final = 1
CHANNEL: Final = "markers"
REQUEST_TIMEOUT_MS: Final = 30_000
MARKERS_PER_REQUEST_MAX: Final = 1_000
RETRY_MS: Final = 20
RETRY_MS_MAX: Final = 2_000

_FENCED = frozenset({ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED})
"""Somebody newer decides for this id: what this coordinator has to say does not count."""

_NO_MARKERS_THERE = frozenset(
    {ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, ErrorCode.UNSUPPORTED_VERSION}
)
"""The partition cannot hold transactions, so it waits for no marker."""


class MarkerSender:
    """One for a broker; every shard of the coordinator sends through it."""

    def __init__(
        self, peers: PeerPool, metadata_cache: MetadataCache, metrics: Metrics, clock: Clock
    ) -> None:
        self.peers = peers
        """The way to other brokers; the simulator puts a worse one in its place."""
        self._metadata_cache = metadata_cache
        self._clock = clock
        self._queue = MarkerQueue()
        self._sending: dict[int, asyncio.Task[None]] = {}
        self._patience: dict[int, asyncio.Timeout] = {}
        metadata_cache.on_change(self._give_up_on_who_left)
        self._timers: set[asyncio.TimerHandle] = set()
        self._warnings: dict[int, RetryWarning] = {}
        self._jobs: set[MarkerJob] = set()
        self._nowhere: dict[MarkerJob, int] = {}
        self._sent = metrics.counter(
            "penstock_transaction_markers_written_total",
            "Markers that leaders of partitions have acknowledged to this coordinator.",
        )
        self._retried = metrics.counter(
            "penstock_transaction_marker_retries_total",
            "Markers that were refused, or whose request was lost, and are sent again.",
        )
        self._fenced = metrics.counter(
            "penstock_transaction_markers_fenced_total",
            "Transactions given up here because a newer coordinator or producer was met.",
        )

    # -- what is under way

    @property
    def pending(self) -> int:
        """Decided transactions of which some partition has no marker yet."""
        return len(self._jobs)

    @property
    def without_leader(self) -> int:
        """Markers whose partition had no leader when they were last due."""
        return sum(self._nowhere.values())

    def send(
        self,
        markers: Markers,
        coordinator_epoch: Callable[[], int],
        on_written: Callable[[Markers], None],
    ) -> MarkerJob:
        """Calls `on_written` on the loop once each partition has its marker or was deleted."""
        job = MarkerJob(markers, coordinator_epoch, on_written)
        self._jobs.add(job)
        asyncio.get_running_loop().call_soon(self._enqueue, job, frozenset(job.left))
        return job

    def drop(self, job: MarkerJob) -> None:
        """The shard is unloaded: its answers are of no use any more."""
        job.is_dropped = True
        self._jobs.discard(job)
        self._nowhere.pop(job, None)

    async def stop(self) -> None:
        for job in list(self._jobs):
            self.drop(job)
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        self._queue.clear()
        tasks = list(self._sending.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- queueing

    def _enqueue(self, job: MarkerJob, partitions: Iterable[TopicPartition]) -> None:
        if job.is_dropped:
            return
        image = self._metadata_cache.image
        lost = []
        self._nowhere.pop(job, None)
        for partition in partitions:
            broker_id = destination(image, partition)
            if broker_id == GONE:
                job.left.discard(partition)
            elif broker_id == NOWHERE:
                lost.append(partition)
            else:
                self._queue.add(broker_id, job, partition)
                self._start(broker_id)
        if lost:
            self._nowhere[job] = len(lost)
            self._retry(job, lost)
        self._finish_if_done(job)

    def _retry(self, job: MarkerJob, partitions: Iterable[TopicPartition]) -> None:
        again = frozenset(partitions)
        self._retried.inc(len(again))
        delay_ms = min(RETRY_MS * 2 ** min(job.retries, 10), RETRY_MS_MAX)
        job.retries += 1

        def due() -> None:
            self._timers.discard(timer)
            self._enqueue(job, again)

        timer = asyncio.get_running_loop().call_later(delay_ms / 1000, due)
        self._timers.add(timer)

    def _start(self, broker_id: int) -> None:
        if broker_id not in self._sending:
            task = asyncio.get_running_loop().create_task(
                self._send_all(broker_id), name=f"markers to broker {broker_id}"
            )
            self._sending[broker_id] = task
            task.add_done_callback(lambda _done: self._stopped(broker_id))

    def _stopped(self, broker_id: int) -> None:
        self._sending.pop(broker_id, None)

    def _finish_if_done(self, job: MarkerJob) -> None:
        if not job.left and not job.is_dropped:
            self.drop(job)
            job.on_written(job.markers)

    # -- sending

    async def _send_all(self, broker_id: int) -> None:
        """One request after the other, while anything waits for this broker."""
        while taken := self._queue.take(broker_id, MARKERS_PER_REQUEST_MAX):
            try:
                response = await self._ask(broker_id, _request(taken))
            except Exception as error:  # noqa: BLE001 - whatever it was, the decision stays
                self._warn(broker_id, error)
                for job, partitions in taken.items():
                    self._retry(job, partitions)
                continue
            self._warnings.pop(broker_id, None)
            self._take_answer(taken, response)

    async def _ask(
        self, broker_id: int, request: WriteTxnMarkersRequest
    ) -> WriteTxnMarkersResponse:
        """Errors as in `PeerPool.request`; TimeoutError too when the broker leaves the cluster."""
        try:
            async with asyncio.timeout(None) as self._patience[broker_id]:
                response: WriteTxnMarkersResponse = await self.peers.request(
                    broker_id, request, VERSION, timeout_ms=REQUEST_TIMEOUT_MS, channel=CHANNEL
                )
                return response
        finally:
            self._patience.pop(broker_id, None)

    def _give_up_on_who_left(self, before: ClusterImage, after: ClusterImage) -> None:
        """A paused or unplugged broker neither answers nor refuses, and others lead by now.

        Whether it has written the marker is as open as after a timeout; the next leader is asked.
        """
        for broker_id in before.brokers.keys() - after.brokers.keys():
            patience = self._patience.get(broker_id)
            if patience is not None and not patience.expired():
                patience.reschedule(asyncio.get_running_loop().time())

    def _take_answer(
        self, taken: dict[MarkerJob, set[TopicPartition]], response: WriteTxnMarkersResponse
    ) -> None:
        errors = {
            (marker.producer_id, topic.name, result.partition_index): result.error_code
            for marker in response.markers
            for topic in marker.topics
            for result in topic.partitions
        }
        for job, partitions in taken.items():
            if not job.is_dropped:
                self._settle(job, partitions, errors)

    def _settle(
        self,
        job: MarkerJob,
        partitions: set[TopicPartition],
        errors: dict[tuple[int, str, int], int],
    ) -> None:
        again = []
        for partition in partitions:
            code = errors.get((job.markers.producer_id, *partition))
            error = ErrorCode.of(code) if code is not None else ErrorCode.UNKNOWN_SERVER_ERROR
            if error is ErrorCode.NONE or error in _NO_MARKERS_THERE:
                job.left.discard(partition)
                self._sent.inc()
            elif error in _FENCED:
                self._give_up(job, partition, error)
                return
            else:
                again.append(partition)
        if again:
            self._retry(job, again)
        self._finish_if_done(job)

    def _give_up(self, job: MarkerJob, partition: TopicPartition, error: ErrorCode) -> None:
        _log.error(
            "%s refuses the marker of transactional id %r (producer %d, epoch %d): %s",
            partition,
            job.markers.transactional_id,
            job.markers.producer_id,
            job.markers.producer_epoch,
            error.message,
        )
        self._fenced.inc()
        self.drop(job)

    def _warn(self, broker_id: int, error: BaseException) -> None:
        warning = self._warnings.setdefault(broker_id, RetryWarning())
        if warning.is_due(self._clock.monotonic_ms()):
            _log.warning("markers do not reach broker %d: %r", broker_id, error)


def _request(taken: dict[MarkerJob, set[TopicPartition]]) -> WriteTxnMarkersRequest:
    return WriteTxnMarkersRequest(
        markers=[
            WritableTxnMarker(
                producer_id=job.markers.producer_id,
                producer_epoch=job.markers.producer_epoch,
                transaction_result=job.markers.is_commit,
                topics=[
                    WritableTxnMarkerTopic(name=topic, partition_indexes=indexes)
                    for topic, indexes in by_topic(partitions).items()
                ],
                coordinator_epoch=job.coordinator_epoch(),
            )
            for job, partitions in taken.items()
        ]
    )
