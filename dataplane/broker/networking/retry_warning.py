"""When a retry is worth a warning: not the first, not each, but once when they last too long.

Leaders, controllers and topics move, and whoever has heard of it first is refused by whoever has
not. Such refusals end by themselves within the bound; an operator has to hear of those that do not.
"""

from __future__ import annotations

EXPECTED_S_MAX = 30.0
"""How long retries are part of the normal course: the session of a dead broker lasts
`zookeeper.session.timeout.ms`, 18 seconds, then come the elections and their announcement."""


class RetryWarning:
    """Of one thing that is tried again until it succeeds."""

    __slots__ = ("_failing_since_s", "_is_said")

    def __init__(self) -> None:
        self._failing_since_s: float | None = None
        self._is_said = False

    def is_due(self, now_s: float) -> bool:
        """A try has failed. True once, as soon as tries have failed for too long."""
        if self._failing_since_s is None:
            self._failing_since_s = now_s
        if self._is_said or now_s - self._failing_since_s <= EXPECTED_S_MAX:
            return False
        self._is_said = True
        return True

    def reset(self) -> None:
        """A try has succeeded."""
        self._failing_since_s = None
        self._is_said = False
