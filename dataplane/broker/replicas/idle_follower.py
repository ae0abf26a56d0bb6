"""A follower that has caught up in its fetch session, until something happens to the partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataplane.log.partition_log import PartitionLog
    from dataplane.replication.fetch_sessions import FetchSession, PartitionKey
    from dataplane.replication.replica import Replica


class IdleFollower:
    """Stands in two places, and leaves both together: its partition's `place`, and its session."""

    __slots__ = ("_key", "_log", "_log_start", "_place", "_replica", "_replica_id", "_session")

    def __init__(  # noqa: PLR0917 - made in one place only, once each time it becomes idle
        self,
        place: dict[int, IdleFollower],
        replica_id: int,
        replica: Replica,
        session: FetchSession,
        key: PartitionKey,
        log: PartitionLog,
    ) -> None:
        self._place = place
        self._replica_id = replica_id
        self._replica = replica
        self._session = session
        self._key = key
        self._log = log
        self._log_start = log.log_start_offset
        replica.become_idle(session.clock)

    def wake(self) -> None:
        """Something has happened to the partition: a waiting request takes it up.

        Also where there is nothing to answer yet: it has to watch the partition from now on, since
        the next append finds no idle follower to wake.
        """
        session = self._session
        self.stop()
        session.woken(self._key)
        if session.on_news is not None:
            session.on_news()

    def stop(self) -> None:
        """The session looks at the partition by itself from now on, or has ended."""
        if self._place.get(self._replica_id) is self:
            del self._place[self._replica_id]
        self._replica.wake()

    def has_moved(self) -> bool:
        """Retention moves log starts and wakes nobody."""
        return self._log.log_start_offset != self._log_start
