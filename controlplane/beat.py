"""Beat's scheduler, which outlives the database: `settings.CELERY_BEAT_SCHEDULER`."""

import logging
from datetime import datetime, timedelta
from typing import Any, cast

from celery.beat import ScheduleEntry
from celery.schedules import maybe_schedule
from celery.schedules import schedule as every
from django.db import Error, close_old_connections, connection
from django_celery_beat.models import IntervalSchedule
from django_celery_beat.schedulers import DatabaseScheduler, ModelEntry

from controlplane.common.once_a_minute import OnceAMinute
from controlplane.common.redis_link import LINK
from controlplane.heartbeat import Heartbeat

log = logging.getLogger(__name__)
SAID = OnceAMinute(LINK)


class Entry(ModelEntry):  # type: ignore[misc] # untyped base
    """Keeps intervals to the microsecond.

    The library stores whole seconds and cuts off the rest: half a second became none, and once beat
    had read its schedule back it sent that task as fast as it could.
    """

    @classmethod
    def to_model_schedule(cls, schedule: Any) -> tuple[Any, str]:
        interval: Any = maybe_schedule(schedule)
        # Subclasses are schedules of another kind.
        length: timedelta | None = interval.run_every if _is_interval(interval) else None
        if length is None or not length.microseconds:
            return cast("tuple[Any, str]", super().to_model_schedule(schedule))
        kept, _ = IntervalSchedule.objects.get_or_create(
            every=length // timedelta(microseconds=1),
            period=IntervalSchedule.MICROSECONDS,
        )
        return kept, "interval"


def _is_interval(found: object) -> bool:
    return type(found) is every


class Scheduler(DatabaseScheduler):  # type: ignore[misc] # untyped base
    """While the database is away the schedule that was read last goes on.

    The library's own ends beat when its reading of every five minutes falls into an outage, and
    writes a traceback at each look for changes and at each try to write down what ran.
    """

    Entry = Entry
    heartbeat = Heartbeat()
    _last_timestamp: datetime | None = None
    _schedule: dict[str, Any] | None = None

    def schedule_changed(self) -> bool:
        try:
            close_old_connections()
            last, self._last_timestamp = self._last_timestamp, self.Changes.last_change()
        except Error as error:
            self._say(error)
            return False
        changed_at = self._last_timestamp
        return bool(changed_at and last and changed_at > last)

    @property
    def schedule(self) -> dict[str, ScheduleEntry]:
        try:
            return cast("dict[str, ScheduleEntry]", super().schedule)
        except Error as error:
            if self._schedule is None:  # there is none to go on with
                raise
            self._say(error)
            return self._schedule

    def apply_async(self, *args: Any, **kwargs: Any) -> Any:
        sent = super().apply_async(*args, **kwargs)
        self.heartbeat.note()
        return sent

    def sync(self) -> None:
        """Write down when entries last ran; while that is not possible they stay to be written."""
        try:
            close_old_connections()
            connection.ensure_connection()
        except Error as error:
            self._say(error)
            return
        super().sync()

    @staticmethod
    def _say(error: Error) -> None:
        if SAID.may("beat:database"):
            log.warning("the schedule is not read again while the database is away: %s", error)
