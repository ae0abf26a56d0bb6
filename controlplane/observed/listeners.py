"""Who is told what happened to a cluster: an app above brings itself (`use_listener`)."""

from datetime import datetime
from typing import Protocol

from controlplane.observed.changes import Changes


class Listener(Protocol):
    def __call__(
        self, cluster_id: str, changes: Changes, *, not_before: datetime | None, at: datetime
    ) -> None:
        """Called in the transaction that writes the rows.

        Args:
            cluster_id: of the cluster that was read.
            changes: what is otherwise than it was; never empty.
            not_before: when they were last read as they were; null: not known.
            at: when they were read as they are.
        """
        ...


_listener: Listener | None = None


def use_listener(listener: Listener | None) -> None:
    global _listener  # noqa: PLW0603 - one per process
    _listener = listener


def tell(cluster_id: str, changes: Changes, *, not_before: datetime | None, at: datetime) -> None:
    if _listener is not None and changes:
        _listener(cluster_id, changes, not_before=not_before, at=at)
