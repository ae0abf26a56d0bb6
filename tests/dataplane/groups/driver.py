"""Drives one group shard as the host does: commits its writes, lets time pass, collects answers."""

from __future__ import annotations

import uuid

from dataplane.groups.consumer.group import TopicInfo
from dataplane.groups.outcome import Outcome, Write
from dataplane.groups.requests import (
    CommitRequest,
    JoinRequest,
    JoinResult,
    LeavingMember,
    OffsetToCommit,
    Protocol,
    SyncRequest,
    SyncResult,
)
from dataplane.groups.settings import GroupSettings
from dataplane.groups.shard import GroupShard
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.ports.fakes.clock import FakeClock
from dataplane.ports.fakes.entropy import FakeEntropy

GROUP = "g"
NAMES = uuid.UUID(int=848)
RANGE = Protocol("range", b"range-metadata")


def subscription(*topics: str) -> bytes:
    """A ConsumerProtocolSubscription, version 0."""
    out = (0).to_bytes(2) + len(topics).to_bytes(4)
    for topic in topics:
        out += len(topic).to_bytes(2) + topic.encode()
    return out + (-1).to_bytes(4, signed=True)


class FakeTopics:
    """A cluster's topics: name → id and partition count."""

    def __init__(self) -> None:
        self.version = 0
        self.infos = {}

    def put(self, name: str, partition_count: int) -> uuid.UUID:
        """Create a topic, or give it more partitions."""
        known = self.infos.get(name)
        topic_id = uuid.uuid5(NAMES, f"{name} {self.version}") if known is None else known.topic_id
        self.infos[name] = TopicInfo(topic_id, partition_count)
        self.version += 1
        return topic_id

    def drop(self, name: str) -> None:
        del self.infos[name]
        self.version += 1

    def get(self, name: str) -> TopicInfo | None:
        return self.infos.get(name)

    def name_of(self, topic_id: uuid.UUID) -> str | None:
        return next((n for n, info in self.infos.items() if info.topic_id == topic_id), None)

    def matchable(self) -> list[str]:
        return list(self.infos)


class Driver:
    """`hold_writes` keeps writes uncommitted until `commit_writes` or `fail_writes`."""

    def __init__(self, **settings) -> None:
        settings = {"initial_rebalance_delay_ms": 0} | settings
        self.clock = FakeClock()
        self.topics = FakeTopics()
        self.shard = GroupShard(GroupSettings(**settings), self.clock, FakeEntropy(), self.topics)
        self.log = []
        self.answers = {}
        self.answered_twice = set()
        self.pending: list[Write] = []
        self.hold_writes = False
        self._ticket = 0
        self._coordinators = 0

    def take(self, outcome: Outcome) -> None:
        for ticket, result in outcome.replies:
            if ticket in self.answers:
                self.answered_twice.add(ticket)
            self.answers[ticket] = result
        self.pending += outcome.writes
        if not self.hold_writes:
            self.commit_writes()

    def commit_writes(self) -> None:
        while self.pending:
            write = self.pending.pop(0)
            for record in write.records:
                self.log.append(record)
                self.shard.replay(record)
            self.take(write.on_done(ErrorCode.NONE))

    def fail_writes(self, error: ErrorCode) -> None:
        failed, self.pending = self.pending, []
        for write in failed:
            self.take(write.on_done(error))

    def advance(self, ms: int) -> None:
        """Let time pass, stopping at every deadline on the way."""
        end = self.clock.monotonic_ms() + ms
        while (due := self.shard.next_deadline_ms()) is not None and due <= end:
            self.clock.advance(max(0, due - self.clock.monotonic_ms()))
            self.take(self.shard.tick())
        self.clock.advance(end - self.clock.monotonic_ms())

    def ticket(self) -> int:
        self._ticket += 1
        return self._ticket

    def reloaded(self) -> GroupShard:
        """Another coordinator that has read the same log."""
        self._coordinators += 1  # which make up other member ids than those before
        entropy = FakeEntropy(self._coordinators)
        other = GroupShard(self.shard.core.settings, self.clock, entropy, self.topics)
        for record in self.log:
            other.replay(record)
        other.finish_loading()
        return other

    @property
    def group(self):
        return self.shard.core.find(GROUP)

    @property
    def state(self) -> str:
        return self.shard.describe(GROUP).state

    # requests; each returns its ticket, or the answer where it is immediate

    def join(
        self,
        member_id: str = "",
        *,
        instance: str | None = None,
        protocols: tuple[Protocol, ...] = (RANGE,),
        protocol_type: str = "consumer",
        session_ms: int = 10_000,
        rebalance_ms: int = 60_000,
        known_id: bool = False,
        skip: bool = False,
        group: str = GROUP,
    ) -> int:
        ticket = self.ticket()
        request = JoinRequest(
            group_id=group,
            member_id=member_id,
            group_instance_id=instance,
            client_id="client",
            client_host="/127.0.0.1",
            session_timeout_ms=session_ms,
            rebalance_timeout_ms=rebalance_ms,
            protocol_type=protocol_type,
            protocols=protocols,
            require_known_member_id=known_id,
            skip_assignment_supported=skip,
        )
        self.take(self.shard.joining.join(request, ticket))
        return ticket

    def joined(self, ticket: int) -> JoinResult:
        return self.answers[ticket]

    def sync(
        self,
        member_id: str,
        generation: int,
        assignments: dict[str, bytes] | None = None,
        *,
        instance: str | None = None,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
    ) -> int:
        ticket = self.ticket()
        request = SyncRequest(
            group_id=GROUP,
            member_id=member_id,
            group_instance_id=instance,
            generation=generation,
            protocol_type=protocol_type,
            protocol_name=protocol_name,
            assignments=assignments or {},
        )
        self.take(self.shard.syncing.sync(request, ticket))
        return ticket

    def synced(self, ticket: int) -> SyncResult:
        return self.answers[ticket]

    def heartbeat(self, member_id: str, generation: int, instance: str | None = None) -> ErrorCode:
        return self.shard.membership.heartbeat(GROUP, member_id, instance, generation)

    def leave(self, member_id: str, instance: str | None = None) -> ErrorCode:
        outcome, error, left = self.shard.membership.leave(
            GROUP, [LeavingMember(member_id, instance)]
        )
        self.take(outcome)
        return left[0].error if left else error

    def commit(
        self,
        offset: int,
        *,
        member_id: str = "",
        generation: int = -1,
        topic: str = "t",
        partition: int = 0,
        metadata: str = "",
        instance: str | None = None,
        group: str = GROUP,
        retention_ms: int = -1,
    ) -> int:
        ticket = self.ticket()
        request = CommitRequest(
            group_id=group,
            member_id=member_id,
            group_instance_id=instance,
            generation=generation,
            offsets={
                TopicPartition(topic, partition): OffsetToCommit(
                    offset=offset, metadata=metadata, retention_ms=retention_ms
                )
            },
        )
        self.take(self.shard.offsets.commit(request, ticket))
        return ticket

    def committed(self, ticket: int) -> ErrorCode:
        (error,) = self.answers[ticket].values()
        return error

    def fetch(self, topic: str = "t", partition: int = 0, group: str = GROUP) -> int:
        where = TopicPartition(topic, partition)
        return self.shard.offsets.fetch(group, [where])[where].offset

    def stable_group(self, count: int = 2, **join) -> list[str]:
        """A stable group of `count` members; the first is the leader. Returns their ids."""
        first = self.join(**join)
        self.advance(0)
        ids = [self.joined(first).member_id]
        for _ in range(count - 1):
            ticket = self.join(**join)
            others = [self.join(member_id, **join) for member_id in ids]
            ids.append(self.joined(ticket).member_id)
            assert all(self.joined(other).error is ErrorCode.NONE for other in others)
        generation = self.group.generation
        assignments = {member_id: f"for {member_id}".encode() for member_id in ids}
        followers = [self.sync(member_id, generation) for member_id in ids[1:]]
        leader = self.sync(ids[0], generation, assignments)
        assert all(self.synced(t).error is ErrorCode.NONE for t in [*followers, leader])
        assert self.state == "Stable"
        return ids
