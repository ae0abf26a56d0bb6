"""One leading broker's fetcher: what to ask for next, and what the answers mean (no I/O).

A chain of Fetch requests for all partitions followed there, as one fetch session: partitions whose
position has not moved are not named again, and not even looked at, but for a sweep once a second.
A partition that fails is left out for a while and does not hold back the others; a fetch that
fails as a whole is tried again after a delay that grows up to `replica.fetch.backoff.ms`.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, Generic, NamedTuple

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.retry_warning import RetryWarning
from dataplane.replication.effects import FetchFailed
from dataplane.replication.fetch_session_handler import FetchSessionHandler
from dataplane.replication.partition_fetch_state import FetchState, P, PartitionFetchState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dataplane.replication.effects import FetcherReport, FollowerEffect
    from dataplane.replication.fetch_session_handler import FetchRequestData, PartitionKey
    from dataplane.replication.quota import ReplicationQuota
    from dataplane.wire.messages.fetch import FetchResponse, PartitionData

RETRY_MIN_MS: Final = 20
# How often all positions are compared with what was asked: retention moves log starts.
SWEEP_MS: Final = 1_000

_FETCHING: Final = FetchState.FETCHING


class SendFetch(NamedTuple):
    """Send this; the leader may hold its answer back for `wait_ms`."""

    request: FetchRequestData
    wait_ms: int


@dataclasses.dataclass(frozen=True, slots=True)
class FetchLeaderBounds(Generic[P]):
    """Ask the leader where its log of this partition begins and ends."""

    state: PartitionFetchState[P]


@dataclasses.dataclass(frozen=True, slots=True)
class RetryLater:
    """Nothing may be sent before `delay_ms` are over, unless something changes."""

    delay_ms: int


class FetcherCore(Generic[P]):
    """Events in; out come the next step, effects for `carry_out`, and `reports`.

    `carry_out(partition, effects)` does to the replica what an answer demands, in order, and
    returns the bytes appended; whatever it raises makes that partition fail, and no other.
    `reports` is taken and emptied by the caller. What comes of the `newest` request asks for the
    next step; older ones, overtaken, do not. Times are monotonic milliseconds.
    """

    def __init__(
        self,
        *,
        carry_out: Callable[[P, Sequence[FollowerEffect]], int],
        quota: ReplicationQuota,
        wait_max_ms: int,
        backoff_max_ms: int,
    ) -> None:
        self.states: dict[PartitionKey, PartitionFetchState[P]] = {}
        self.reports: list[FetcherReport] = []
        self.newest: FetchRequestData | None = None
        self._carry_out = carry_out
        self._quota = quota
        self._wait_max_ms = wait_max_ms
        self._backoff_max_ms = backoff_max_ms
        self._session = FetchSessionHandler()
        self._moved: dict[PartitionKey, None] = {}  # whose position may have changed
        self._failed: dict[PartitionKey, None] = {}
        self._out_of_range: dict[PartitionKey, None] = {}
        self._sweep_at_ms = 0
        self._retry_ms = RETRY_MIN_MS
        self._must_pause = False
        self._failures = RetryWarning()

    # -- which partitions

    @property
    def is_empty(self) -> bool:
        return not self.states

    @property
    def failed_count(self) -> int:
        """Partitions that are left out for a while."""
        return len(self._failed)

    def add(self, partition: P) -> None:
        """Follow it; if it was followed before, the leader has to say everything again."""
        state = PartitionFetchState(
            partition, backoff_max_ms=self._backoff_max_ms, reports=self.reports
        )
        key = state.key
        self.states[key] = state
        self._session.renew(key)
        self._failed.pop(key, None)
        self._out_of_range.pop(key, None)
        self._moved[key] = None

    def remove(self, key: PartitionKey) -> None:
        if self.states.pop(key, None) is not None:
            self._session.leave_out(key)
            for noted in (self._moved, self._failed, self._out_of_range):
                noted.pop(key, None)

    # -- what to do next

    def wake(self) -> bool:
        """What held fetches back may be gone. True when a step may be taken at once."""
        self._sweep_at_ms = 0
        if self._retry_ms <= RETRY_MIN_MS:
            return False
        self._retry_ms = RETRY_MIN_MS
        return True

    def next_step(self, now_ms: int) -> SendFetch | FetchLeaderBounds[P] | RetryLater:
        """After an answer, a pause, or a change of partitions."""
        if self._must_pause:
            return self.pause()
        return (
            (self.bounds_to_fetch() if self._out_of_range else None)
            or self._next_fetch(now_ms)
            or self.pause()
        )

    def bounds_to_fetch(self) -> FetchLeaderBounds[P] | None:
        """A partition that is out of the leader's range; the others wait for its bounds too."""
        for key in self._out_of_range:
            return FetchLeaderBounds(self.states[key])
        return None

    def pause(self) -> RetryLater:
        """Nothing may be sent now; each time in a row the pause is longer."""
        self._must_pause = False
        delay_ms = self._retry_ms
        self._retry_ms = min(delay_ms * 2, self._backoff_max_ms)
        return RetryLater(delay_ms)

    def _next_fetch(self, now_ms: int) -> SendFetch | None:
        """None when nothing may be asked now."""
        session, states = self._session, self.states
        wait_ms = self._wait_max_ms
        is_throttling = self._quota.is_active
        for key in self._to_look_at(now_ms, is_throttling=is_throttling):
            state = states[key]
            if state.state is not _FETCHING:
                left_ms = state.try_again(now_ms)  # one that is out of range is never met here
                if left_ms:
                    wait_ms = min(wait_ms, left_ms)
                    session.leave_out(key)
                    continue
                self._failed.pop(key, None)
            if is_throttling and self._is_held_back(state):
                session.leave_out(key)
            else:
                session.want(key, state.fetch_position())
        self._moved.clear()
        request = session.next_request()
        if request is None:
            return None
        self.newest = request
        return SendFetch(request, wait_ms)

    def _to_look_at(self, now_ms: int, *, is_throttling: bool) -> Iterable[PartitionKey]:
        """Partitions of which something else may have to be asked than the last time."""
        if now_ms < self._sweep_at_ms and not is_throttling:
            return [*self._moved, *self._failed]
        self._sweep_at_ms = now_ms + SWEEP_MS
        return self.states

    def _is_held_back(self, state: PartitionFetchState[P]) -> bool:
        """Left out of the request: throttled, still behind, and the quota is used up (KIP-73)."""
        quota = self._quota
        return (
            not state.is_in_sync
            and quota.is_throttled(*state.partition.topic_partition)
            and quota.is_exceeded
        )

    # -- what came of a fetch

    def on_unreachable(self, reason: str, now_ms: int) -> RetryLater:
        """The leader cannot be reached."""
        self._fetch_failed(reason, now_ms, is_refusal=False)
        return self.pause()

    def on_lost(self, request: FetchRequestData, now_ms: int) -> None:
        """No answer will come."""
        self.on_unreadable(request)
        self._fetch_failed("no answer came", now_ms, is_refusal=False)

    def on_unreadable(self, request: FetchRequestData) -> None:
        """An answer came that says nothing."""
        self._session.on_lost(request)
        if request is self.newest:
            self._must_pause = True

    def on_response(self, request: FetchRequestData, response: FetchResponse, now_ms: int) -> int:
        """Carry out what the answer demands, partition by partition; bytes appended."""
        error = ErrorCode.of(response.error_code)
        if not self._session.on_response(request, response.session_id, error):
            if request is self.newest:
                self._fetch_failed(f"it refuses our fetch: {error.name}", now_ms, is_refusal=True)
                self._must_pause = True
            return 0
        self._failures.reset()
        size = self._take_partitions(request, response, now_ms)
        self._retry_ms = RETRY_MIN_MS
        return size

    def _fetch_failed(self, reason: str, now_ms: int, *, is_refusal: bool) -> None:
        """A warning once, when fetches fail for too long."""
        is_warning = self._failures.is_due(now_ms)
        self.reports.append(FetchFailed(reason, is_refusal=is_refusal, is_warning=is_warning))

    def _take_partitions(
        self, request: FetchRequestData, response: FetchResponse, now_ms: int
    ) -> int:
        session, states, quota = self._session, self.states, self._quota
        is_throttling = quota.is_active
        size = 0
        for topic in response.responses:
            for answer in topic.partitions:
                key = topic.topic_id, answer.partition_index
                state = states.get(key)
                position = session.requested(request, key) if state is not None else None
                if state is None or position is None:
                    continue
                if state.state is not _FETCHING or position.offset != state.log.log_end_offset:
                    session.require_full()  # it answers a request of the past
                    continue
                self._moved[key] = None
                taken = self._take(state, answer, now_ms)
                size += taken
                if is_throttling and quota.is_throttled(*state.partition.topic_partition):
                    quota.record(taken)
        return size

    def _take(self, state: PartitionFetchState[P], answer: PartitionData, now_ms: int) -> int:
        """One partition's part of the answer; bytes appended. What fails is asked again later."""
        taken = 0
        try:
            effects = state.on_answer(answer, now_ms)
            if effects:
                taken = self._carry_out(state.partition, effects)
                state.on_applied(now_ms)
        except Exception as error:  # noqa: BLE001 - one partition must not end the others' chain
            self._on_exception(state, error, now_ms)
            # The watermark and log start sent along are not taken, and not sent again by itself.
            self._session.require_full()
        if answer.diverging_epoch.epoch >= 0:
            self._session.require_full()  # the same, whether or not the log was truncated
        if state.state is not _FETCHING:
            self._set_aside(state)
            return 0
        return taken

    def on_leader_bounds(
        self, state: PartitionFetchState[P], bounds: tuple[int, int] | None, now_ms: int
    ) -> None:
        """Where the leader's log begins and ends, None if it does not say.

        Nothing happens if the partition is followed in another epoch by now, or not any more.
        """
        key = state.key
        if self.states.get(key) is not state or state.state is not FetchState.OUT_OF_RANGE:
            return
        self._out_of_range.pop(key, None)
        self._moved[key] = None
        if bounds is None:
            state.on_failed("the leader does not say its bounds", now_ms, is_expected=True)
            self._set_aside(state)
            return
        try:
            effects = state.on_leader_bounds(*bounds, now_ms)
            if effects:
                self._carry_out(state.partition, effects)
                state.on_applied(now_ms)
        except Exception as error:  # noqa: BLE001 - as in `_take`
            self._on_exception(state, error, now_ms)
        self._set_aside(state)

    def _on_exception(self, state: PartitionFetchState[P], error: Exception, now_ms: int) -> None:
        """Our log refuses what the leader sent, or the disk has failed."""
        if isinstance(error, KafkaError):
            state.on_failed(error.code.name, now_ms)
        else:
            state.on_failed(str(error), now_ms, cause=error)

    def _set_aside(self, state: PartitionFetchState[P]) -> None:
        """Remember what has to happen before it is fetched again.

        Nothing, if carrying out took it away: with its log the whole log directory may fail.
        """
        if self.states.get(state.key) is not state:
            return
        if state.state is FetchState.FAILED:
            self._failed[state.key] = None
        elif state.state is FetchState.OUT_OF_RANGE:
            self._out_of_range[state.key] = None
