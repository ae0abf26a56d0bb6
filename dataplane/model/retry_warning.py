"""When a retry is worth a warning: not the first, not each, but once when they last too long.

Leaders, controllers and topics move, and whoever has heard of it first is refused by whoever has
not. Such refusals end by themselves within the bound; an operator has to hear of those that do not.
"""

from __future__ import annotations

EXPECTED_MS_MAX = 30_000
"""How long retries are part of the normal course: the session of a dead broker lasts
`zookeeper.session.timeout.ms`, 18 seconds, then come the elections and their announcement."""


class RetryWarning:
    """Of one thing that is tried again until it succeeds. Times are monotonic milliseconds."""

    __slots__ = ("_failing_since_ms", "_is_given")

    def __init__(self) -> None:
        self._failing_since_ms: int | None = None
        self._is_given = False

    def is_due(self, now_ms: int) -> bool:
        """A try has failed. True once, as soon as tries have failed for too long."""
        if self._failing_since_ms is None:
            self._failing_since_ms = now_ms
        if self._is_given or now_ms - self._failing_since_ms <= EXPECTED_MS_MAX:
            return False
        self._is_given = True
        return True

    def reset(self) -> None:
        """A try has succeeded."""
        self._failing_since_ms = None
        self._is_given = False
