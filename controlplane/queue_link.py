"""How this service's Celery looks for a Redis that is away: at a steady pace, by a line a minute.

Kombu waits two seconds longer after each try, up to half a minute, and no setting of Celery's says
otherwise: the longer an outage, the longer every worker would stand still after it.
"""

import contextlib
import time
from collections.abc import Callable
from typing import Any, Self

from celery.app.amqp import AMQP
from django.conf import settings
from kombu import Connection

Report = Callable[[Exception, float], Any]
"""Takes the error and the seconds until the next try."""
LINE_INTERVAL_S = 60.0


class SteadyConnection(Connection):
    """Tries again every `settings.QUEUE_RECONNECT_S`; a shorter wait that is asked for is kept.

    `limits`: how often at most, as Kombu has it; waits are given by their names.
    """

    def ensure_connection(
        self, errback: Report | None = None, *limits: Any, **options: Any
    ) -> Self:
        for name in ("interval_start", "interval_max"):
            asked_s = options.get(name, settings.QUEUE_RECONNECT_S)
            options[name] = min(asked_s, settings.QUEUE_RECONNECT_S)
        options["interval_step"] = 0
        report = _once_a_minute(errback) if errback else None
        super().ensure_connection(report, *limits, **options)
        return self

    def maybe_close_channel(self, channel: Any) -> None:
        """Close it; one that Kombu has collected cannot give back what it had taken.

        Kombu ignores errors of connections alone here, so that such a channel ended the worker. The
        sweep brings the ticks that it held.
        """
        with contextlib.suppress(AttributeError):
            super().maybe_close_channel(channel)


class SteadyAMQP(AMQP):
    """Celery's way to its queue, by connections of ours."""

    Connection = SteadyConnection


def _once_a_minute(report: Report) -> Report:
    said_at_s: float | None = None

    def seldom(error: Exception, interval_s: float) -> None:
        nonlocal said_at_s
        now_s = time.monotonic()
        if said_at_s is None or now_s - said_at_s >= LINE_INTERVAL_S:
            said_at_s = now_s
            report(error, interval_s)

    return seldom
