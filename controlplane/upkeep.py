"""What every long-running process does beside its work: hand counts over, close what is of no use.

The web process starts it (`asgi`), workers when they are ready (`celery`); commands need none.
"""

import logging
import threading
import time

from django.db import Error, connection

from controlplane.clusters import connections
from controlplane.common.tally import FLUSH_INTERVAL_S, TALLY

log = logging.getLogger(__name__)
TIDY_INTERVAL_S = 10.0
"""The longest that a process keeps the connection to a cluster that another one removed."""

_started: threading.Event | None = None


def start() -> None:
    """Once a process; the thread ends with it."""
    global _started  # noqa: PLW0603 - one thread per process
    if _started is None:
        _started = threading.Event()
        threading.Thread(target=run, name="upkeep", daemon=True).start()


def stop() -> None:
    """Hand over the last counts; the process is about to end."""
    TALLY.flush()


def run() -> None:
    """The thread: goes on whatever becomes of Redis and the database."""
    tidied_at_s = time.monotonic()
    while True:
        time.sleep(FLUSH_INTERVAL_S)
        TALLY.flush()
        if time.monotonic() - tidied_at_s < TIDY_INTERVAL_S:
            continue
        tidied_at_s = time.monotonic()
        try:
            connections.tidy()
        except Error as error:
            log.debug("connections are looked at again later: %s", error)
        finally:
            connection.close()  # nothing stays open while the thread sleeps
