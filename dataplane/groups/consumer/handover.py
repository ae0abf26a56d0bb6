"""Classic groups that end where a consumer group begins, and begin where one ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.core import join_key, pending_key, session_key, sync_key
from dataplane.groups.requests import JoinResult, SyncResult
from dataplane.groups.states import GroupState
from dataplane.model.errors import ErrorCode

if TYPE_CHECKING:
    from dataplane.groups.core import ShardCore
    from dataplane.groups.group import ClassicGroup
    from dataplane.groups.outcome import Outcome
    from dataplane.groups.rebalance import Rebalancer


class Handover:
    """Offsets belong to the group's id and stay."""

    def __init__(self, core: ShardCore, rebalancer: Rebalancer) -> None:
        self._core = core
        self._rebalancer = rebalancer

    def take_over(self, group_id: str, replaced_id: str | None, out: Outcome) -> None:
        """The live classic group ends; who waits for it is to join again.

        But not `replaced_id`, a static member whose place another takes at once.
        """
        classic = self._core.find(group_id)
        replaced = None if classic is None else classic.members.get(replaced_id or "")
        if classic is not None and replaced is not None:
            fenced = ErrorCode.FENCED_INSTANCE_ID
            joined = JoinResult(error=fenced, member_id=replaced.member_id)
            self._rebalancer.answer_join(classic, replaced, joined, out)
            self._rebalancer.answer_sync(replaced, SyncResult(error=fenced), out)
        self._end(group_id, ErrorCode.REBALANCE_IN_PROGRESS, out)

    def install(self, classic: ClassicGroup, out: Outcome) -> None:
        """It takes the consumer group's place, and rebalances without those that are gone."""
        self._core.groups[classic.group_id] = classic
        for member in classic.members.values():
            self._core.touch(classic, member)
        self._rebalancer.prepare(classic, out)

    def undo(self, group_id: str, out: Outcome) -> None:
        """What replaced one group by another was refused: the one that is stored is back."""
        core = self._core
        is_consumers = core.consumer_groups.find(group_id) is not None
        if is_consumers and core.find(group_id) is not None:
            self._end(group_id, ErrorCode.COORDINATOR_NOT_AVAILABLE, out)
        elif not is_consumers and core.find(group_id) is None:
            restored = core.restore(group_id)
            if restored is not None:
                for member in restored.members.values():
                    core.touch(restored, member)

    def _end(self, group_id: str, error: ErrorCode, out: Outcome) -> None:
        core = self._core
        classic = core.find(group_id)
        if classic is None:
            return
        for member in classic.members.values():
            joined = JoinResult(error=error, member_id=member.member_id)
            self._rebalancer.answer_join(classic, member, joined, out)
            self._rebalancer.answer_sync(member, SyncResult(error=error), out)
            core.deadlines.cancel(session_key(group_id, member.member_id))
        for member_id in classic.pending_members:
            core.deadlines.cancel(pending_key(group_id, member_id))
        core.deadlines.cancel(join_key(group_id))
        core.deadlines.cancel(sync_key(group_id))
        classic.move_to(GroupState.DEAD, now_ms=core.clock.realtime_ms())
        del core.groups[group_id]
