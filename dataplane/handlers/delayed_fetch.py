"""A Fetch in work: answered at once, or parked until there is enough to send."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataplane.broker.delayed.deferred import Deferred
from dataplane.handlers import leader_hints
from dataplane.model.errors import KafkaError
from dataplane.timing.purgatory import DelayedOperation, WatchList
from dataplane.wire.fetch_codec import FetchedPartition, encode_fetch_response

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.handlers.fetch_partitions import FetchPartitions
    from dataplane.replication.fetch_sessions import FetchContext

ENDPOINTS_FROM = 16


def refuse_all(context: RequestContext, error: KafkaError) -> list[Any]:
    """The whole request is refused: the fetcher has to begin a new session."""
    header = context.header
    return encode_fetch_response(
        header.api_version, header.correlation_id, (), error_code=error.code
    )


class DelayedFetch(DelayedOperation):
    """A Fetch in work.

    Completes when (A) there is an error to answer, or (B) `min_bytes` can be sent, or (C) nothing
    may be waited for, or (D) the deadline has passed.
    """

    __slots__ = ("_context", "_news", "_partitions", "_session", "deferred")

    deferred: Deferred[list[Any]]  # made when there is something to wait for

    def __init__(
        self,
        context: RequestContext,
        session: FetchContext,
        partitions: FetchPartitions,
    ) -> None:
        super().__init__()
        self._context = context
        self._session = session
        self._partitions = partitions

    # -- waiting

    def start(self) -> Any:
        """The answer if it is due at once, else its deferred."""
        asked, session = self._partitions, self._session.session
        is_replica = asked.is_replica
        if is_replica:
            asked.acknowledge()
            if session is not None:
                session.clock.ms = self._context.broker.clock.monotonic_ms()
        reply = self._answer_if_due()
        if reply is not None:
            return reply
        self.deferred = Deferred()
        self.deferred.on_abandoned = self._abandon
        partitions = [entry.partition for entry in asked.entries if entry.partition is not None]
        lists = [each.appended if is_replica else each.committed for each in partitions]
        if is_replica and session is not None:
            self._news = WatchList()
            lists.append(self._news)
            session.on_news = self._on_news
        purgatory = self._context.broker.replica_manager.fetch_purgatory
        purgatory.add(self, asked.request.max_wait_ms, lists)
        return self.deferred

    def _on_news(self) -> None:
        """A partition that was idle has something for us, or is to be watched from now on.

        Looked at once for all that happens in this step: it may be an event of every partition.
        """
        if self._news:
            self._context.broker.replica_manager.wakeups.wake(self._news)

    def _take_up_woken(self) -> None:
        """What was idle when the request came, and is not any more, is answered with the others.

        It is watched like them: its next append wakes no idle follower.
        """
        session = self._session.session
        if session is None or not session.is_privileged:
            return
        known = set(self._partitions.places())
        woken = [key for key in session.due if key not in known]
        if woken:
            entries = self._partitions.entries
            known_before = len(entries)
            self._partitions.resolve(session.asked(woken))
            found = (entry.partition for entry in entries[known_before:])
            self.watch_too([each.appended for each in found if each is not None])

    def try_complete(self) -> None:
        self._take_up_woken()
        reply = self._answer_if_due()
        if reply is not None and self.end():
            self.deferred.complete(reply)

    def expire(self) -> None:
        self._take_up_woken()
        results, size, failed = self._partitions.read()
        self.deferred.complete(self._encode(results, size, failed=failed))

    def _abandon(self) -> None:
        self.end()

    def _answer_if_due(self) -> list[Any] | None:
        partitions = self._partitions
        request = partitions.request
        results, size, failed = partitions.read()
        if (
            failed
            or size >= request.min_bytes
            or request.max_wait_ms <= 0
            or self._session.is_empty
            or (size and partitions.is_enough_there(results))
        ):
            return self._encode(results, size, failed=failed)
        return None

    # -- answering

    def _encode(self, results: list[FetchedPartition], size: int, *, failed: bool) -> list[Any]:
        metering = self._context.metering
        if metering is not None and not self._partitions.is_replica:
            metering.spent_before()
            if not metering.fetched(size):
                return self._encode_held(metering.throttle_ms)
        return self._encode_read(results, size, failed=failed)

    def _encode_read(
        self, results: list[FetchedPartition], size: int, *, failed: bool
    ) -> list[Any]:
        """The answer with what was read: no quota is in its way any more."""
        header, asked = self._context.header, self._partitions
        topics = []
        at = 0
        for key, count in asked.keys:
            topics.append((key, results[at : at + count]))
            at += count
        try:
            session_id, sent = self._session.settle(topics)
        except KafkaError as error:
            return refuse_all(self._context, error)
        hints = (
            leader_hints.endpoints(self._context, (result.current_leader for result in results))
            if failed and header.api_version >= ENDPOINTS_FROM
            else ()
        )
        parts: list[Any] = encode_fetch_response(
            header.api_version,
            header.correlation_id,
            sent,
            throttle_time_ms=self._context.throttle_time_ms,
            session_id=session_id,
            node_endpoints=hints,
        )
        metrics = self._context.broker.metrics
        if asked.is_replica:
            metrics.replication_bytes_out.value += size
            asked.count_throttled(results)
            self._let_idle(results)
        else:
            metrics.bytes_out.value += size
        return parts

    def _encode_held(self, throttle_ms: int) -> list[Any]:
        """Nothing: the consumer asks for the same once more after it has waited."""
        header = self._context.header
        try:
            session_id = self._session.hold()
        except KafkaError as error:
            return refuse_all(self._context, error)
        return encode_fetch_response(
            header.api_version,
            header.correlation_id,
            (),
            throttle_time_ms=throttle_ms,
            session_id=session_id,
        )

    def _let_idle(self, results: list[FetchedPartition]) -> None:
        """What is caught up and was sent everything is not looked at again until it wakes."""
        asked, session = self._partitions, self._session.session
        if session is None:
            return
        for place, entry, result in zip(asked.places(), asked.entries, results, strict=True):
            if (
                entry.partition is not None
                and place in session.partitions
                and result.records is None
                and result.error_code == 0
                and result.diverging_epoch is None
            ):
                entry.partition.let_idle(
                    asked.request.replica_id, entry.wanted.fetch_offset, session, place
                )
