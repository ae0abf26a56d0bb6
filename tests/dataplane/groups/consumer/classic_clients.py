"""Members of the classic protocol as clients see themselves, beside those of `members.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.consumer.topics import embedded, named
from dataplane.groups.consumer_protocol import (
    ConsumerProtocolSubscription,
    EmbeddedPartitions,
    read_assignment,
    read_subscription,
    write_assignment,
)
from dataplane.groups.requests import Protocol
from dataplane.model.errors import ErrorCode as E
from dataplane.model.ids import TopicPartition
from dataplane.wire.codec import encode_versioned

if TYPE_CHECKING:
    from tests.dataplane.groups.consumer.members import World

EAGER = "range"
COOPERATIVE = "cooperative-sticky"
JOIN, SYNC, STAY = "join", "sync", "stay"


def subscription(topics, owned=(), *, version=1) -> bytes:
    """`owned` are `TopicPartition`s."""
    by_topic: dict[str, list[int]] = {}
    for part in sorted(owned):
        by_topic.setdefault(part.topic, []).append(part.partition)
    held = [EmbeddedPartitions(topic=name, partitions=own) for name, own in by_topic.items()]
    return encode_versioned(
        ConsumerProtocolSubscription(
            topics=sorted(topics), owned_partitions=held if version else []
        ),
        version,
    )


class ClassicClient:
    """`send` takes it as far as it gets without waiting. It dies when another has its instance."""

    def __init__(self, world: World, *, topics=("t",), instance=None, name=EAGER, version=1):
        self.world = world
        self.instance = instance
        self.name = name
        self.version = version
        self.joining = {"topics": frozenset(topics)}
        self.member_id = ""
        self.epoch = 0
        self.owned = frozenset()
        self.phase = JOIN
        self.waiting: int | None = None
        self.leads: tuple = ()
        self.seen_topics = -1
        self.is_dead = False

    @property
    def is_cooperative(self) -> bool:
        return self.name == COOPERATIVE

    def send(self) -> None:
        for _ in range(4):
            if self.waiting is not None or self.is_dead:
                return
            before = self.phase
            getattr(self, self.phase)()
            self.read()
            if before == STAY == self.phase:
                return

    def join(self) -> None:
        if not self.is_cooperative:
            self.owned = frozenset()
        held = named(self.owned, self.world.topics)
        metadata = subscription(self.joining["topics"], held, version=self.version)
        self.waiting = self.world.join(
            self.member_id,
            instance=self.instance,
            protocols=(Protocol(self.name, metadata),),
            session_ms=45_000,
            rebalance_ms=30_000,
            known_id=True,
        )

    def sync(self) -> None:
        given = self.given() if self.leads else {}
        self.seen_topics = self.world.topics.version
        self.waiting = self.world.sync(self.member_id, self.epoch, given, instance=self.instance)

    def given(self) -> dict[str, bytes]:
        """Round robin; what another still holds is given once it has let go."""
        wants = {each.member_id: read_subscription(each.metadata) for each in self.leads}
        held = {part: m for m, wanted in wants.items() for part in wanted.owned}
        given: dict[str, list[TopicPartition]] = {member_id: [] for member_id in wants}
        for name, info in sorted(self.world.topics.infos.items()):
            takers = sorted(m for m, wanted in wants.items() if name in wanted.topics)
            for index in range(info.partition_count if takers else 0):
                part = TopicPartition(name, index)
                taker = takers[index % len(takers)]
                if not self.is_cooperative or held.get(part, taker) == taker:
                    given[taker].append(part)
        return {member_id: write_assignment(own, 1) for member_id, own in given.items()}

    def stay(self) -> None:
        if self.leads and self.seen_topics != self.world.topics.version:
            self.phase = JOIN
            return
        error = self.world.heartbeat(self.member_id, self.epoch, self.instance)
        if error is E.REBALANCE_IN_PROGRESS:
            self.phase = JOIN
        elif error is not E.NONE:
            self._out(error)

    def read(self) -> None:
        """Take in the answer, if it has come."""
        answer = self.world.answers.get(self.waiting)
        if answer is None:
            return
        self.waiting = None
        if answer.error is not E.NONE:
            if answer.error is E.MEMBER_ID_REQUIRED:
                self.member_id = answer.member_id
            self._out(answer.error)
        elif self.phase == JOIN:
            self.member_id, self.epoch = answer.member_id, answer.generation
            self.leads = answer.members if answer.leader == answer.member_id else ()
            self.phase = SYNC
        else:
            self._take(answer.assignment)

    def _take(self, assignment: bytes) -> None:
        given = embedded(read_assignment(assignment).partitions, self.world.topics)
        gives_up = self.is_cooperative and self.owned - given
        self.owned = given
        self.phase = JOIN if gives_up else STAY

    def _out(self, error: E) -> None:
        self.phase = JOIN
        if error in (E.UNKNOWN_MEMBER_ID, E.ILLEGAL_GENERATION, E.FENCED_INSTANCE_ID):
            self.lose()
        if error is E.UNKNOWN_MEMBER_ID:
            self.member_id = ""
        self.is_dead = error is E.FENCED_INSTANCE_ID

    def lose(self) -> None:
        self.epoch = 0
        self.owned = frozenset()
        self.phase = JOIN

    def leave(self) -> E:
        member_id, self.member_id = self.member_id, ""
        self.lose()
        return self.world.leave(member_id, self.instance)


def settle(*clients, rounds: int = 12) -> None:
    """Clients of both protocols go on until there is nothing to do."""
    for _ in range(rounds):
        for client in clients:
            client.send()
            client.world.advance(0)
            for other in clients:
                other.read()
