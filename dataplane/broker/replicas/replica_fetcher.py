"""One leading broker's fetcher: a chain of Fetch requests for every partition followed there.

The next request leaves in the very call that handled the last answer, so a busy partition is
replicated without waiting for the loop. When a partition is added while a request is parked at the
leader, a new request goes out on another connection; the parked answer is used if it still fits.
The requests are one fetch session: partitions whose position has not moved are not named again,
and not even looked at, but for a sweep once a second.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from dataplane.broker.networking.peer_client import FETCH_CHANNEL
from dataplane.broker.networking.retry_warning import RetryWarning
from dataplane.broker.replicas.following import Following, NoProgressError, RefusedError
from dataplane.broker.replicas.replica_fetcher_wire import VERSION, fetch_request, leader_bounds
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.replication.follower_session import FollowerSession
from dataplane.timing.purgatory import DelayedOperation
from dataplane.wire.codec import decode
from dataplane.wire.errors import WireError
from dataplane.wire.messages.fetch import FetchResponse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataplane.broker.delayed.deadlines import Deadlines
    from dataplane.broker.networking.peer_connection import PeerConnection
    from dataplane.broker.replicas.fetcher_context import FetcherContext
    from dataplane.broker.replicas.partition import Partition
    from dataplane.replication.follower_session import PartitionKey, Question
    from dataplane.wire.messages.fetch import FetchRequest, PartitionData

_log = logging.getLogger(__name__)

# Requests of a fetcher under way at once: at most one on each of so many connections.
CHANNELS_MAX = 4
RETRY_MIN_S = 0.02
# How often all positions are compared with what the leader was told: retention moves log starts.
SWEEP_S = 1.0


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

    `number` tells the fetchers of one leader apart: each has its own connections and session.
    """

    def __init__(
        self, context: FetcherContext, leader_id: int, number: int, *, deadlines: Deadlines
    ) -> None:
        self._context = context
        self._leader_id = leader_id
        self._channels = [f"{FETCH_CHANNEL}-{number}-{each}" for each in range(CHANNELS_MAX)]
        self._deadlines = deadlines
        self._following: dict[PartitionKey, Following] = {}
        self._session = FollowerSession()
        self._moved: dict[PartitionKey, None] = {}  # whose position may have changed
        self._delayed: dict[PartitionKey, None] = {}
        self._out_of_range: dict[PartitionKey, None] = {}
        self._sweep_at_s = 0.0
        config = context.config
        self._wait_ms = config.get_int("replica.fetch.wait.max.ms")
        self._answer_ms = max(config.get_int("replica.socket.timeout.ms"), self._wait_ms)
        self._backoff_s = config.get_int("replica.fetch.backoff.ms") / 1000
        self._changed = asyncio.Event()
        self._stopped = False
        self._generation = 0  # of the newest request; older answers do not chain
        self._parked: set[str] = set()
        self._retry_s = RETRY_MIN_S
        self._failures = RetryWarning()
        self._task = asyncio.get_running_loop().create_task(
            self._run(), name=f"replica fetcher {number} of broker {leader_id}"
        )

    # -- the partition manager's calls

    @property
    def is_empty(self) -> bool:
        return not self._following

    @property
    def lags(self) -> list[int]:
        """Of each partition, records up to the leader's high watermark as it was told last."""
        return [following.lag for following in self._following.values()]

    @property
    def failed(self) -> int:
        """Partitions that are left out for a while."""
        return len(self._delayed)

    def add(self, partition: Partition) -> None:
        """Follow it, or follow it anew: then the leader has to tell everything again."""
        key = partition.topic_id, partition.topic_partition.partition
        self._following[key] = Following(partition)
        self._session.renew(key)
        self._moved[key] = None
        self._changed.set()

    def remove(self, key: PartitionKey) -> None:
        if self._following.pop(key, None) is not None:
            self._session.leave_out(key)
            for noted in (self._moved, self._delayed, self._out_of_range):
                noted.pop(key, None)

    def hurry(self) -> None:
        """What held fetches back may be gone: ask again without waiting out a backoff."""
        self._sweep_at_s = 0.0
        if self._retry_s > RETRY_MIN_S:
            self._retry_s = RETRY_MIN_S
            self._changed.set()

    def stop(self) -> None:
        self._stopped = True
        self._following.clear()
        self._task.cancel()

    async def wait_stopped(self) -> None:
        await asyncio.gather(self._task, return_exceptions=True)

    # -- the chain of requests

    async def _run(self) -> None:
        """Start a chain whenever the set of partitions changes or the last chain has ended."""
        while not self._stopped:
            await self._changed.wait()
            # Commands of the controller name many partitions: take them up together.
            await asyncio.sleep(0)
            self._changed.clear()
            try:
                await self._resolve_ranges()
                await self._start_chain()
            except (ConnectionError, TimeoutError, WireError) as error:
                self._note_failure(str(error))
                self._again_later()
            except Exception:  # noqa: BLE001 - else the partitions followed here stand still for good
                _log.exception("fetching from broker %d", self._leader_id)
                self._again_later()

    async def _start_chain(self) -> None:
        channel = next((name for name in self._channels if name not in self._parked), None)
        if channel is None or not self._following:
            self._again_later()
            return
        peers = self._context.peers
        connection = await peers.connection(peers.endpoint(self._leader_id), channel=channel)
        self._generation += 1
        self._send(connection, channel, self._generation)

    def _note_failure(self, reason: str) -> None:
        """A fetch has failed as a whole; a warning once when that lasts."""
        is_due = self._failures.is_due(asyncio.get_running_loop().time())
        level = logging.WARNING if is_due else logging.DEBUG
        _log.log(level, "fetching from broker %d: %s", self._leader_id, reason)

    def _again_later(self) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(self._retry_s, self._changed.set)
        self._retry_s = min(self._retry_s * 2, self._backoff_s)

    def _send(self, connection: PeerConnection, channel: str, generation: int) -> None:
        asked = self._request()
        if asked is None:
            self._again_later()
            return
        request, question = asked
        self._parked.add(channel)
        awaited = _Awaited(connection, self._leader_id)
        self._deadlines.add(awaited, self._answer_ms)

        def arrived(frame: memoryview | None, position: int) -> None:
            awaited.end()
            self._parked.discard(channel)
            if self._stopped:
                return
            goes_on = self._take(frame, position, question)
            if generation != self._generation:
                return
            if not goes_on:
                self._again_later()
            elif self._out_of_range:
                self._changed.set()
            else:
                self._send(connection, channel, generation)

        connection.send(request, VERSION, arrived)

    def _request(self) -> tuple[FetchRequest, Question] | None:
        """The next request; None when nothing may be asked now."""
        now_s = asyncio.get_running_loop().time()
        session = self._session
        wait_ms = self._wait_ms
        for key in self._to_look_at(now_s):
            following = self._following[key]
            left_s = following.delayed_until_s - now_s
            if left_s > 0:
                self._delayed[key] = None
                wait_ms = min(wait_ms, int(left_s * 1000) + 1)
                session.leave_out(key)
                continue
            self._delayed.pop(key, None)
            if self._is_held_back(following):
                session.leave_out(key)
            else:
                session.want(key, following.asked)
        self._moved.clear()
        question = session.next_question()
        if question is None:
            return None
        return fetch_request(self._context, question, wait_ms=wait_ms), question

    def _to_look_at(self, now_s: float) -> Iterable[PartitionKey]:
        """Partitions of which something else may have to be asked than the last time."""
        if now_s < self._sweep_at_s and not self._context.quota.is_active:
            return [*self._moved, *self._delayed]
        self._sweep_at_s = now_s + SWEEP_S
        return self._following

    def _is_held_back(self, following: Following) -> bool:
        """Left out of the request: throttled, still behind, and the quota is used up (KIP-73)."""
        quota = self._context.quota
        return (
            quota.is_active
            and not following.is_in_sync
            and quota.is_throttled(*following.partition.topic_partition)
            and quota.is_exceeded
        )

    # -- the answers

    def _take(self, frame: memoryview | None, position: int, question: Question) -> bool:
        """Handle one answer, or that none will come. Whether the chain may go on at once."""
        if frame is None:
            self._context.metrics.replication_fetches_lost.inc()
            self._session.on_lost(question)
            self._note_failure("no answer came")
            return False
        try:
            response, _end = decode(FetchResponse, VERSION, frame, position)
        except WireError as error:
            _log.warning("broker %d answers our fetch with nonsense: %s", self._leader_id, error)
            self._session.on_lost(question)
            return False
        error_code = ErrorCode.of(response.error_code)
        if not self._session.on_answer(question, response.session_id, error_code):
            if self._session.is_newest(question):
                self._context.metrics.replication_refusals.inc()
                self._note_failure(f"it refuses our fetch: {error_code.name}")
            return False
        self._failures.reset()
        self._take_partitions(response, question)
        self._retry_s = RETRY_MIN_S
        return True

    def _take_partitions(self, response: FetchResponse, question: Question) -> None:
        """Records are appended straight from the connection's buffer."""
        quota = self._context.quota
        size = 0
        for topic in response.responses:
            for answer in topic.partitions:
                key = topic.topic_id, answer.partition_index
                following = self._following.get(key)
                asked = self._session.heard(question, key) if following is not None else None
                if following is None or asked is None:
                    continue
                if asked.offset != following.fetch_offset:
                    self._session.begin_anew()  # it answers a question of the past
                    continue
                taken = self._take_one(key, following, asked.offset, answer)
                size += taken
                if quota.is_active and quota.is_throttled(*following.partition.topic_partition):
                    quota.record(taken)
        self._context.metrics.replication_bytes_in.value += size

    def _take_one(
        self, key: PartitionKey, following: Following, offset: int, answer: PartitionData
    ) -> int:
        """One partition's part of the answer; bytes appended. What fails is asked again later."""
        self._moved[key] = None
        try:
            taken = following.on_answer(offset, answer)
        except RefusedError as refusal:
            self._delay(following, refusal.code.name, is_expected=refusal.is_expected)
        except KafkaError as error:
            self._delay(following, error.code.name)
        except NoProgressError as error:
            self._delay_in_vain(following, error)
        except Exception as error:  # noqa: BLE001 - one partition must not end the others' chain
            if self._delay(following, str(error)):
                _log.exception("following %s failed", following)
        else:
            if following.needs_leader_bounds:
                self._out_of_range[key] = None
            if answer.diverging_epoch.epoch >= 0:
                # The log was cut: the leader's watermark, told along with that, is not known here.
                self._session.begin_anew()
            return taken
        return 0

    def _delay(self, following: Following, reason: str, *, is_expected: bool = False) -> bool:
        """Back off; a warning once, when it has gone on for too long. Whether it gave one."""
        self._context.metrics.replication_refusals.inc()
        is_long = following.delay(
            asyncio.get_running_loop().time(), self._backoff_s, is_expected=is_expected
        )
        _log.log(
            logging.WARNING if is_long else logging.DEBUG,
            "%s does not get on behind broker %d: %s; asking every %.1f s at most",
            following,
            self._leader_id,
            reason,
            self._backoff_s,
        )
        return is_long

    def _delay_in_vain(self, following: Following, error: NoProgressError) -> None:
        self._context.metrics.replication_vain_cuts.inc()
        if following.delay_in_vain(asyncio.get_running_loop().time(), self._backoff_s):
            _log.warning(
                "%s turns in a circle behind broker %d: %s; backing off up to %.1f s",
                following,
                self._leader_id,
                error,
                self._backoff_s,
            )

    # -- out of range

    async def _resolve_ranges(self) -> None:
        """Ask the leader for its log's bounds where ours lies outside them."""
        while self._out_of_range:
            key = next(iter(self._out_of_range))
            following = self._following[key]
            bounds = await leader_bounds(self._context, self._leader_id, following)
            if self._following.get(key) is not following:
                self._out_of_range.pop(key, None)
                continue
            self._out_of_range.pop(key, None)
            self._moved[key] = None
            if bounds is None:
                following.needs_leader_bounds = False
                self._delay(following, "the leader does not tell its bounds", is_expected=True)
                continue
            try:
                following.on_leader_bounds(*bounds)
            except NoProgressError as error:
                self._delay_in_vain(following, error)
