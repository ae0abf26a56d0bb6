"""What members of consumer groups owe by when: a sign of life, partitions given up.

Members of the classic protocol also have to join again when they are told to, and to ask for their
assignment once they have joined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.consumer.states import MemberState

if TYPE_CHECKING:
    from dataplane.groups.consumer.group import ConsumerGroup, ConsumerMember
    from dataplane.groups.core import DeadlineKey, ShardCore


def session_key(group_id: str, member_id: str) -> DeadlineKey:
    return ("consumer-session", group_id, member_id)


def revocation_key(group_id: str, member_id: str) -> DeadlineKey:
    return ("consumer-revocation", group_id, member_id)


def join_key(group_id: str, member_id: str) -> DeadlineKey:
    return ("consumer-join", group_id, member_id)


def sync_key(group_id: str, member_id: str) -> DeadlineKey:
    return ("consumer-sync", group_id, member_id)


def is_consumers(key: DeadlineKey) -> bool:
    """Whether a deadline of the shard is one of these."""
    return key[0].startswith("consumer-")


class MemberDeadlines:
    """Sets and cancels them; what follows when one passes is `departures.py`'s."""

    def __init__(self, core: ShardCore) -> None:
        self._core = core

    def watch(self, group: ConsumerGroup, member: ConsumerMember, *, has_stepped: bool) -> None:
        """Its session begins again; giving up partitions has a deadline of its own."""
        group_id, member_id = group.group_id, member.member_id
        session_ms = self._core.timings_of(group_id).session_timeout_ms
        if member.classic is None:
            self._core.deadlines.cancel(join_key(group_id, member_id))
            self._core.deadlines.cancel(sync_key(group_id, member_id))
        else:
            session_ms = member.classic.session_timeout_ms
        self._set(session_key(group_id, member_id), session_ms)
        revocation = revocation_key(group_id, member_id)
        if member.state is not MemberState.UNREVOKED_PARTITIONS:
            self._core.deadlines.cancel(revocation)
        elif has_stepped or revocation not in self._core.deadlines:
            self._set(revocation, max(member.rebalance_timeout_ms, 0))

    def must_join(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        """It was told to join again; being told so twice gives no more time."""
        key = join_key(group.group_id, member.member_id)
        if key not in self._core.deadlines:
            self._set(key, max(member.rebalance_timeout_ms, 0))

    def joined(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        """It has joined, and is to ask for its assignment."""
        self._core.deadlines.cancel(join_key(group.group_id, member.member_id))
        self._set(sync_key(group.group_id, member.member_id), max(member.rebalance_timeout_ms, 0))

    def synced(self, group_id: str, member_id: str) -> None:
        self._core.deadlines.cancel(sync_key(group_id, member_id))

    def owes_nothing(self, group_id: str, member_id: str) -> None:
        """It left for a while: it holds on to its place, and nothing else is asked of it."""
        self._core.deadlines.cancel(revocation_key(group_id, member_id))

    def unwatch(self, group_id: str, member_id: str) -> None:
        for key in (session_key, revocation_key, join_key, sync_key):
            self._core.deadlines.cancel(key(group_id, member_id))

    def watch_all(self, group: ConsumerGroup) -> None:
        """Every member has its deadlines, also who has become one, or one again."""
        for member in group.members.values():
            if session_key(group.group_id, member.member_id) not in self._core.deadlines:
                self.watch(group, member, has_stepped=False)

    def _set(self, key: DeadlineKey, timeout_ms: int) -> None:
        self._core.deadlines.set(key, self._core.clock.monotonic_ms() + timeout_ms)
