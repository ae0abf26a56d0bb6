"""That beat sends what is due: noted by beat itself as it sends, read by `/healthz`.

A beat that hangs or cannot reach its queue sends nothing, and is as good as none.
"""

import time

from redis.exceptions import RedisError

from controlplane.common.redis_link import LINK, PREFIX

KEY = f"{PREFIX}beat"
NOTED_EVERY_S = 5.0
MISSING_AFTER_S = 60.0
"""The schedule has something to send every few seconds."""


class Heartbeat:
    """Beat's own side."""

    def __init__(self) -> None:
        self._noted_at_s = 0.0

    def note(self, now_s: float | None = None) -> None:
        """Something was sent. What Redis does not take is noted with the next that is sent."""
        at_s = time.time() if now_s is None else now_s
        if 0 <= at_s - self._noted_at_s < NOTED_EVERY_S:
            return
        try:
            LINK.call(lambda client: client.set(KEY, f"{at_s:.3f}"))
        except RedisError:
            return
        self._noted_at_s = at_s


def last_s() -> float | None:
    """When beat last sent something, in seconds since 1970; None when it never did.

    Raises:
        RedisError: nobody can say.
    """
    found = LINK.call(lambda client: client.get(KEY))
    return None if found is None else float(found)
