"""What a dispatcher gives a connection, and what it may ask of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from dataplane.broker.context import ConnectionInfo
    from dataplane.broker.delayed.deferred import Deferred
    from dataplane.broker.replicas.staged_appends import StagedAnswer

# Parts of one answer, size prefix first: bytes-like objects and slices of log files.
Reply: TypeAlias = list[Any]
Answer: TypeAlias = "Reply | Deferred[Reply | None] | StagedAnswer | None"


class Requester(Protocol):
    """A connection, as its requests see it."""

    @property
    def info(self) -> ConnectionInfo: ...

    def authenticated(self) -> None:
        """SASL has succeeded, or is not asked for."""
        ...

    def session_lasts(self, lifetime_ms: int | None) -> None:
        """SASL has succeeded for so long; None is for ever."""
        ...

    def close_after_answer(self) -> None:
        """Read no more, and close when the answers in work have left."""
        ...

    def mute(self, pause_ms: int) -> None:
        """Look at no request for so long; the answers in work leave meanwhile."""
        ...
