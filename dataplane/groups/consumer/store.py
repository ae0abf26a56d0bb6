"""The live consumer groups of a shard, and what of them is still on its way to the log.

A group is ahead of the log by the changes that are not committed yet. One that is refused is taken
back: the group is made again from what is committed and the changes that still stand. One whose
wait timed out may be committed all the same, so it stands; nobody is answered on its strength until
a later one is committed, or the log turns out to hold it.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from dataplane.groups.consumer.group import ConsumerGroup
from dataplane.groups.consumer.states import ConsumerGroupState
from dataplane.groups.outcome import Outcome
from dataplane.model.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.groups.consumer.change import Change
    from dataplane.groups.consumer.records import ConsumerGroupKey, ConsumerGroupValue

    Then = Callable[[ErrorCode], Outcome]


@dataclasses.dataclass(slots=True, eq=False)
class _OnItsWay:
    """`waiting`: who asked after this change without changing anything."""

    steps: list[tuple[ConsumerGroupKey, ConsumerGroupValue | None]]
    waiting: list[Then] = dataclasses.field(default_factory=list)
    is_unknown: bool = False


class ConsumerGroups:
    """`committed` is the durable part, which only replayed records change."""

    def __init__(self, committed: dict[str, ConsumerGroup]) -> None:
        self._committed = committed
        self._live: dict[str, ConsumerGroup] = {}
        self._on_its_way: dict[str, list[_OnItsWay]] = {}

    def find(self, group_id: str) -> ConsumerGroup | None:
        return self._live.get(group_id)

    def all(self) -> list[ConsumerGroup]:
        return list(self._live.values())

    def load(self) -> None:
        """The log has been read: take up what it holds."""
        for group_id in self._committed:
            self._make_again(group_id)

    def clear(self) -> None:
        """The shard is led elsewhere."""
        self._live.clear()
        self._on_its_way.clear()

    def submit(self, change: Change, out: Outcome, then: Then) -> None:
        """Store a change; `then` decides what follows once it is committed, or not."""
        group = change.group
        group_id = group.group_id
        group.settle()
        self._live[group_id] = group
        if group.is_blank:
            group.move_to(ConsumerGroupState.DEAD)
            del self._live[group_id]
        entry = _OnItsWay(change.steps)
        self._on_its_way.setdefault(group_id, []).append(entry)

        def stored(error: ErrorCode) -> Outcome:
            self._settle(group_id, entry, error)
            done = then(error)
            for waiting in entry.waiting:
                more = waiting(error)
                done.replies += more.replies
                done.writes += more.writes
            return done

        out.write(change.records(), stored)

    def _settle(self, group_id: str, entry: _OnItsWay, error: ErrorCode) -> None:
        queue = self._on_its_way.get(group_id, [])
        if entry not in queue:
            return  # the shard was unloaded meanwhile
        if error is ErrorCode.NONE:
            # Records are committed in their order: so are those before that were unknown.
            del queue[: queue.index(entry) + 1]
        elif error is ErrorCode.REQUEST_TIMED_OUT:
            entry.is_unknown = True
        else:
            queue.remove(entry)
            self._make_again(group_id)
        if not queue:
            self._on_its_way.pop(group_id, None)

    def _make_again(self, group_id: str) -> None:
        committed = self._committed.get(group_id)
        group = ConsumerGroup(group_id) if committed is None else committed.copy()
        for entry in self._on_its_way.get(group_id, []):
            for key, value in entry.steps:
                group.apply(key, value)
        if group.is_blank:
            self._live.pop(group_id, None)
            return
        group.settle()
        self._live[group_id] = group

    def when_stored(self, group_id: str, then: Then) -> Outcome:
        """Answer who changes nothing, once everything that the answer rests on is committed."""
        queue = self._on_its_way.get(group_id)
        if not queue:
            return then(ErrorCode.NONE)
        if not queue[-1].is_unknown:
            queue[-1].waiting.append(then)
            return Outcome()
        live, committed = self._live.get(group_id), self._committed.get(group_id)
        if live is not None and committed is not None and live.equals(committed):
            del self._on_its_way[group_id]
            return then(ErrorCode.NONE)
        return then(ErrorCode.REQUEST_TIMED_OUT)
