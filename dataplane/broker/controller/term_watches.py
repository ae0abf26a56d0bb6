"""What a controller watches in ZooKeeper during one term, and which step each change brings."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from dataplane.broker.controller.topic_watches import TopicWatches
from dataplane.cluster import znodes

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection

    from dataplane.broker.controller.term import ControllerTerm
    from dataplane.cluster.context import ControllerContext
    from dataplane.ports.coordinator import Coordinator, NodeStat, Watch

    Step: TypeAlias = Callable[[ControllerTerm], Awaitable[object]]


class TermWatches:
    """Begins to watch when it is made. `later` puts a step on the controller's queue."""

    def __init__(
        self, coordinator: Coordinator, context: ControllerContext, later: Callable[[Step], None]
    ) -> None:
        self._coordinator = coordinator
        self._context = context
        self._later = later
        self._topic_watches = TopicWatches(coordinator, self._on_partitions)
        watch = coordinator.watch_children
        self.by_path: dict[str, Watch] = {
            znodes.BROKER_IDS: watch(znodes.BROKER_IDS, self._on_brokers),
            znodes.LOG_DIR_EVENTS: watch(znodes.LOG_DIR_EVENTS, self._on_log_dir_events),
            znodes.TOPICS: watch(znodes.TOPICS, self._on_topics),
            znodes.DELETE_TOPICS: watch(znodes.DELETE_TOPICS, self._on_marks),
            znodes.ISR_CHANGES: watch(znodes.ISR_CHANGES, self._on_isr_changes),
            znodes.REASSIGN_PARTITIONS: self._watch_request(
                znodes.REASSIGN_PARTITIONS,
                lambda term: term.admin_requests.reassignments_requested(),
            ),
            znodes.PREFERRED_ELECTION: self._watch_request(
                znodes.PREFERRED_ELECTION, lambda term: term.admin_requests.elections_requested()
            ),
        }

    def cancel(self) -> None:
        for watch in self.by_path.values():
            watch.cancel()
        self.by_path = {}
        self._topic_watches.cancel()

    def _on_brokers(self, _names: list[str]) -> None:
        self._later(lambda term: term.broker_changes.brokers_changed())

    def _on_log_dir_events(self, names: list[str]) -> None:
        if names:
            self._later(lambda term: term.log_dir_events.notified())

    def _on_topics(self, names: list[str]) -> None:
        if not self._context.topics.keys() >= set(names):
            self._later(lambda term: term.topic_changes.topics_appeared())
        self._topic_watches.follow(names)

    def _on_partitions(self, topic: str, indexes: Collection[int]) -> None:
        held = self._context.topics.get(topic)
        if held is not None and not held.partitions.keys() >= set(indexes):
            self._later(lambda term: term.topic_changes.partitions_appeared(topic))

    def _on_marks(self, names: list[str]) -> None:
        if not self._context.topics_to_be_deleted.issuperset(names):
            self._later(lambda term: term.topic_changes.deletions_marked())

    def _on_isr_changes(self, names: list[str]) -> None:
        if names:
            self._later(lambda term: term.isr_changes.notified())

    def _watch_request(self, path: str, step: Step) -> Watch:
        def look(data: bytes | None, _stat: NodeStat | None) -> None:
            if data is not None:
                self._later(step)

        return self._coordinator.watch_data(path, look)
