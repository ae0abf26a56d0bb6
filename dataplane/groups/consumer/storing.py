"""Changes on their way to the log: who is answered when, and what a refusal takes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.core import group_write_error
from dataplane.groups.outcome import Outcome
from dataplane.model.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.groups.consumer.change import Change
    from dataplane.groups.consumer.handover import Handover
    from dataplane.groups.consumer.member_deadlines import MemberDeadlines
    from dataplane.groups.core import ShardCore


class Storing:
    """Answers wait until everything that they rest on is committed."""

    def __init__(self, core: ShardCore, deadlines: MemberDeadlines, handover: Handover) -> None:
        self._core = core
        self._deadlines = deadlines
        self._handover = handover

    def submit(
        self,
        change: Change,
        out: Outcome,
        answer: Callable[[ErrorCode, Outcome], None] | None = None,
    ) -> None:
        """Store a change, if there is one, and then answer; the error is the log's."""
        group_id = change.group.group_id

        def stored(error: ErrorCode) -> Outcome:
            done = Outcome()
            if error is not ErrorCode.NONE:
                self._handover.undo(group_id, done)
                restored = self._core.consumer_groups.find(group_id)
                if restored is not None:
                    self._deadlines.watch_all(restored)
            if answer is not None:
                answer(error, done)
            return done

        if change.steps:
            self._core.consumer_groups.submit(change, out, stored)
            if change.successor is not None:
                self._handover.install(change.successor, out)
        else:
            more = self._core.consumer_groups.when_stored(group_id, stored)
            out.replies += more.replies


def heartbeat_write_error(error: ErrorCode) -> ErrorCode:
    """The log's refusal, in words of ConsumerGroupHeartbeat: it has none for a rebalance."""
    if error is ErrorCode.REQUEST_TIMED_OUT:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    return group_write_error(error)
