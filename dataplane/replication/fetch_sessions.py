"""Fetch sessions (KIP-227): a fetcher names its partitions once, and then only what changes.

A session remembers what was asked and what was sent of each partition. An incremental request adds,
changes and forgets partitions; its answer leaves out those of which there is nothing new. The
sequence of requests is kept by an epoch. Rules of Kafka 3.9, except that its cache has eight shards
for the sake of its locks; here it is one.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, TypeVar

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.replication.replica import SessionClock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dataplane.ports.clock import Clock
    from dataplane.ports.entropy import Entropy
    from dataplane.wire.fetch_codec import FetchedPartition
    from dataplane.wire.fetch_request import FetchedFrom, FetchParts, TopicKey

    Asked: TypeAlias = Sequence[tuple[TopicKey, Sequence[FetchedFrom]]]
    Answers: TypeAlias = Sequence[tuple[TopicKey, Sequence[FetchedPartition]]]
    PartitionKey: TypeAlias = tuple[TopicKey, int]

NO_SESSION: Final = 0
INITIAL_EPOCH: Final = 0
FINAL_EPOCH: Final = -1
EVICTION_MS: Final = 120_000
"""How long a session is left alone by others that are no better."""
PARTITIONS_MAX: Final = 500_000
"""Partitions remembered by all sessions together; Kafka has no such bound."""
SWEEP_MS: Final = 1_000
TOPIC_IDS_FROM: Final = 13
_INT32_MAX: Final = 2**31 - 1

T = TypeVar("T")


def next_epoch(epoch: int) -> int:
    """1, 2, … and 1 again after the largest: 0 would be a new session."""
    if epoch < 0:
        return FINAL_EPOCH
    return 1 if epoch == _INT32_MAX else epoch + 1


class _Remembered:
    """One partition of a session: what was asked last, and what was sent last."""

    __slots__ = ("high_watermark", "log_start_offset", "wanted")

    def __init__(self, wanted: FetchedFrom) -> None:
        self.wanted = wanted
        self.high_watermark = -1
        self.log_start_offset = -1

    def take(self, answer: FetchedPartition) -> bool:
        """Remember the answer; whether there is anything in it that the fetcher does not know."""
        is_news = (
            answer.records is not None
            or answer.error_code != 0
            or answer.high_watermark != self.high_watermark
            or answer.log_start_offset != self.log_start_offset
            or answer.preferred_read_replica >= 0
            or answer.diverging_epoch is not None
        )
        # An error that goes away has to be sent as well: then nothing is known of the partition.
        self.high_watermark = -1 if answer.error_code else answer.high_watermark
        self.log_start_offset = answer.log_start_offset
        return is_news


class IdlePartition(Protocol):
    """A partition of a follower's session with nothing new until it wakes."""

    def stop(self) -> None:
        """It is not idle any more, as the session knows by itself."""
        ...

    def has_moved(self) -> bool:
        """Whether there is something new that did not wake it."""
        ...


@dataclasses.dataclass(slots=True, eq=False)
class FetchSession:
    """`is_privileged` is a follower's session. `epoch` is that of the next request.

    A follower follows many partitions of which few move. Those of which there may be
    news are `due`; the others are idle, and cost nothing until they wake. `on_news` is to be called
    when one of them has woken.
    """

    id: int
    is_privileged: bool
    uses_topic_ids: bool
    partitions: dict[PartitionKey, _Remembered]
    created_ms: int
    last_used_ms: int
    epoch: int = 1
    cached_size: int = 0
    yields_to_all: bool = False
    yields_to_privileged: bool = False
    clock: SessionClock = dataclasses.field(default_factory=lambda: SessionClock(0))
    due: dict[PartitionKey, None] = dataclasses.field(default_factory=dict)
    idle: dict[PartitionKey, IdlePartition] = dataclasses.field(default_factory=dict)
    on_news: Callable[[], None] | None = None
    swept_ms: int = 0

    def __post_init__(self) -> None:
        self.due.update(dict.fromkeys(self.partitions))

    @property
    def worth(self) -> tuple[bool, int, int]:
        """The least is the first to go."""
        return self.is_privileged, self.cached_size, self.id

    def update(self, request: FetchParts) -> None:
        for topic, partitions in request.topics:
            for wanted in partitions:
                remembered = self.partitions.get((topic, wanted.partition))
                if remembered is None:
                    self.partitions[topic, wanted.partition] = _Remembered(wanted)
                else:
                    remembered.wanted = wanted
                self.disturb((topic, wanted.partition))
        for topic, indexes in request.forgotten:
            for index in indexes:
                self.disturb((topic, index))
                self.partitions.pop((topic, index), None)
                self.due.pop((topic, index), None)

    def disturb(self, key: PartitionKey) -> None:
        """There may be news, or it is asked from elsewhere."""
        idle = self.idle.pop(key, None)
        if idle is not None:
            idle.stop()
        self.due[key] = None

    def woken(self, key: PartitionKey) -> None:
        """What was idle has woken by itself."""
        if self.idle.pop(key, None) is not None:
            self.due[key] = None

    def set_idle(self, key: PartitionKey, idle: IdlePartition) -> None:
        """All that there is has been sent."""
        self.idle[key] = idle
        self.due.pop(key, None)

    def sweep(self, now_ms: int) -> None:
        """From time to time: some news do not wake what is idle."""
        if now_ms - self.swept_ms < SWEEP_MS:
            return
        self.swept_ms = now_ms
        for key in [key for key, idle in self.idle.items() if idle.has_moved()]:
            self.disturb(key)

    def end(self) -> None:
        idle, self.idle = self.idle, {}
        for each in idle.values():
            each.stop()

    def asked(self, keys: Iterable[PartitionKey] | None = None) -> Asked:
        """What is asked of these partitions; of all if none are named."""
        kept = self.partitions
        chosen = kept if keys is None else keys
        return _grouped((key[0], kept[key].wanted) for key in chosen)

    def news(self, answers: Answers) -> Answers:
        """What has to be sent. Partitions that were sent go to the end, so that all get a turn."""
        sent = []
        for topic, partitions in answers:
            for answer in partitions:
                key = topic, answer.partition
                remembered = self.partitions.get(key)
                if remembered is not None and remembered.take(answer):
                    del self.partitions[key]
                    self.partitions[key] = remembered
                    if self.due.pop(key, self) is None:
                        self.due[key] = None
                    sent.append((topic, answer))
        return _grouped(sent)


class FetchSessionCache:
    """At most `slots` sessions.

    A new session drives out one that was unused for long; else the least one, if that is less worth
    than the new one and has lived for a while. Followers' drive out consumers' at any time.
    """

    def __init__(self, *, slots: int, entropy: Entropy) -> None:
        self._slots = slots
        self._entropy = entropy
        self._sessions: dict[int, FetchSession] = {}  # the longest unused first
        self.partitions = 0
        self.evictions = 0

    def __len__(self) -> int:
        return len(self._sessions)

    def get(self, session_id: int) -> FetchSession | None:
        return self._sessions.get(session_id)

    def create(
        self,
        partitions: dict[PartitionKey, _Remembered],
        *,
        is_privileged: bool,
        uses_topic_ids: bool,
        now_ms: int,
    ) -> int:
        """The new session's id; NO_SESSION when there is no place for it."""
        size = len(partitions)
        if self.partitions + size > PARTITIONS_MAX:
            return NO_SESSION
        if len(self._sessions) >= self._slots and not self._evict((is_privileged, size, 0), now_ms):
            return NO_SESSION
        session = FetchSession(
            self._new_id(), is_privileged, uses_topic_ids, partitions, now_ms, now_ms
        )
        self.touch(session, now_ms)
        return session.id

    def remove(self, session_id: int) -> None:
        session = self._sessions.pop(session_id, None)
        if session is not None:
            self.partitions -= session.cached_size
            session.end()

    def has_place_for(self, session: FetchSession) -> bool:
        """Whether the session may keep as many partitions as it has now."""
        others = self.partitions - session.cached_size
        return others + len(session.partitions) <= PARTITIONS_MAX

    def touch(self, session: FetchSession, now_ms: int) -> None:
        """Used now, with as many partitions as it has now."""
        self.partitions -= session.cached_size
        self._sessions.pop(session.id, None)
        self._sessions[session.id] = session
        session.last_used_ms = now_ms
        session.cached_size = len(session.partitions)
        self.partitions += session.cached_size
        session.yields_to_all = now_ms - session.created_ms > EVICTION_MS
        session.yields_to_privileged = session.yields_to_all or not session.is_privileged

    def _evict(self, worth: tuple[bool, int, int], now_ms: int) -> bool:
        oldest = next(iter(self._sessions.values()), None)
        if oldest is None:
            return False
        if now_ms - oldest.last_used_ms <= EVICTION_MS:
            yielding = (
                session
                for session in self._sessions.values()
                if (session.yields_to_privileged if worth[0] else session.yields_to_all)
            )
            least = min(yielding, key=lambda session: session.worth, default=None)
            if least is None or worth < least.worth:
                return False
            oldest = least
        self.remove(oldest.id)
        self.evictions += 1
        return True

    def _new_id(self) -> int:
        while True:
            found = int.from_bytes(self._entropy.token_bytes(4), "big") & _INT32_MAX
            if found not in (NO_SESSION, _INT32_MAX) and found not in self._sessions:
                return found


class FetchContext:
    """One request without a session: every partition it names is answered."""

    session: FetchSession | None = None

    def __init__(self, asked: Asked) -> None:
        self.asked = asked

    @property
    def is_empty(self) -> bool:
        """Whether no partition is asked for at all."""
        return not self.asked

    def settle(self, answers: Answers) -> tuple[int, Answers]:
        """What to answer: the session's id and the partitions to send. KafkaError for all."""
        return NO_SESSION, answers

    def hold(self) -> int:
        """Nothing is answered now: the session's id, which remembers nothing. KafkaError."""
        return NO_SESSION


class _FullFetchContext(FetchContext):
    """A full request that wants a session. It gets one with the answer, if there is a place."""

    def __init__(
        self, request: FetchParts, cache: FetchSessionCache, clock: Clock, *, uses_topic_ids: bool
    ) -> None:
        super().__init__(request.topics)
        self._cache = cache
        self._clock = clock
        self._is_privileged = request.replica_id >= 0
        self._uses_topic_ids = uses_topic_ids

    def settle(self, answers: Answers) -> tuple[int, Answers]:
        partitions: dict[PartitionKey, _Remembered] = {}
        for (topic, wanted), (_, answered) in zip(self.asked, answers, strict=True):
            for each, answer in zip(wanted, answered, strict=True):
                remembered = partitions[topic, each.partition] = _Remembered(each)
                remembered.take(answer)
        session_id = self._cache.create(
            partitions,
            is_privileged=self._is_privileged,
            uses_topic_ids=self._uses_topic_ids,
            now_ms=self._clock.monotonic_ms(),
        )
        return session_id, answers


class _IncrementalFetchContext(FetchContext):
    """The next request of a session."""

    def __init__(self, session: FetchSession) -> None:
        super().__init__(session.asked(session.due if session.is_privileged else None))
        self.session: FetchSession = session
        self._epoch = session.epoch

    @property
    def is_empty(self) -> bool:
        return not self.session.partitions

    def settle(self, answers: Answers) -> tuple[int, Answers]:
        if self.session.epoch != self._epoch:  # asked again meanwhile, over another connection
            raise KafkaError(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        return self.session.id, self.session.news(answers)

    def hold(self) -> int:
        if self.session.epoch != self._epoch:
            raise KafkaError(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        return self.session.id


class FetchManager:
    """Says what a Fetch request asks for, given its session."""

    def __init__(self, *, slots: int, clock: Clock, entropy: Entropy) -> None:
        self.cache = FetchSessionCache(slots=slots, entropy=entropy)
        self._clock = clock

    def open(self, request: FetchParts, version: int, *, may_begin: bool = True) -> FetchContext:
        """Take the request's part in its session.

        `may_begin`: not who calls itself a follower and is none. Followers' sessions drive out
        consumers'; Kafka gives such a one a session too, in which everything is refused.

        Raises KafkaError: FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH,
        FETCH_SESSION_TOPIC_ID_ERROR; the fetcher then asks for everything again.
        """
        epoch = request.session_epoch
        uses_topic_ids = version >= TOPIC_IDS_FROM
        if epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self.cache.remove(request.session_id)
            if epoch == FINAL_EPOCH or not may_begin:
                return FetchContext(request.topics)
            return _FullFetchContext(
                request, self.cache, self._clock, uses_topic_ids=uses_topic_ids
            )
        session = self.cache.get(request.session_id)
        if session is None:
            raise KafkaError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.epoch != epoch:
            raise KafkaError(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if session.uses_topic_ids != uses_topic_ids:
            raise KafkaError(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        session.update(request)
        if not session.partitions:
            self.cache.remove(session.id)
            return FetchContext(request.topics)
        if not self.cache.has_place_for(session):
            self.cache.remove(session.id)
            raise KafkaError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        now_ms = self._clock.monotonic_ms()
        self.cache.touch(session, now_ms)
        session.sweep(now_ms)
        session.epoch = next_epoch(epoch)
        return _IncrementalFetchContext(session)


def _grouped(pairs: Iterable[tuple[TopicKey, T]]) -> list[tuple[TopicKey, list[T]]]:
    """Neighbours of one topic, put together."""
    groups: list[tuple[TopicKey, list[T]]] = []
    for topic, item in pairs:
        if groups and groups[-1][0] == topic:
            groups[-1][1].append(item)
        else:
            groups.append((topic, [item]))
    return groups
