"""A follower that is level with its leader in a fetch session, until something happens there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataplane.log.partition_log import PartitionLog
    from dataplane.replication.fetch_sessions import FetchSession, PartitionKey
    from dataplane.replication.replica import Replica


class RestingFollower:
    """Stands in two places, and leaves both together: its partition's `place`, and its session."""

    __slots__ = ("_key", "_log", "_log_start", "_place", "_replica", "_replica_id", "_session")

    def __init__(  # noqa: PLR0917 - made in one place only, once for each rest
        self,
        place: dict[int, RestingFollower],
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
        replica.rest(session.clock)

    def stir(self, *, wakes: bool) -> None:
        """Something has happened to the partition. `wakes`: that is to be told at once."""
        session = self._session
        self.stop()
        session.stirred(self._key)
        if wakes and session.on_news is not None:
            session.on_news()

    def stop(self) -> None:
        """The session looks at the partition by itself from now on, or has ended."""
        if self._place.get(self._replica_id) is self:
            del self._place[self._replica_id]
        self._replica.stir()

    def has_moved(self) -> bool:
        """Retention moves log starts without a word to anybody."""
        return self._log.log_start_offset != self._log_start
