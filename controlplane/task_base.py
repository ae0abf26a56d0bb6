"""The base of this service's tasks: one that meets no database says so by a line, not a traceback.

Nothing is lost by ending such a task: what is due stays so in the database, and beat asks again.
"""

import logging
from typing import Any

from celery import Task
from django.db import InterfaceError, OperationalError

from controlplane.common.once_a_minute import OnceAMinute

log = logging.getLogger(__name__)
SAID = OnceAMinute(None)
"""In each process by itself: a worker's log is to say why the worker does nothing."""


class DatabaseTask(Task):  # type: ignore[type-arg] # generic in its stubs alone
    """Its errors of the connection are none of the task's: Celery writes no traceback of them."""

    throws = (OperationalError, InterfaceError)

    def on_failure(
        self, error: Exception, task_id: str, args: Any, kwargs: Any, einfo: Any
    ) -> None:
        """Celery's hook, after `run` has raised; it logs what `throws` does not name itself."""
        if isinstance(error, self.throws) and SAID.may("database-away"):
            log.warning(
                "%s is not done now, the database is busy or away: %s (said once a minute)",
                self.name,
                str(error).strip(),
            )
        super().on_failure(error, task_id, args, kwargs, einfo)
