"""Spark work with a time limit of its own, within the run's."""

from __future__ import annotations

import contextlib
import threading
import uuid
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


@contextlib.contextmanager
def limited(spark: SparkSession, seconds: float) -> Iterator[threading.Event]:
    """What this thread asks of Spark meanwhile is cancelled when the time is over, which the event
    says: no failure of a job tells anything else then.

    Raises:
        TimeoutError: it was not done within that time.
    """
    context: Any = spark.sparkContext
    group = f"limited-{uuid.uuid4()}"
    over = threading.Event()

    def cancel() -> None:
        over.set()
        # Also jobs that are only going to begin.
        context._jsc.sc().cancelJobGroupAndFutureJobs(group)  # noqa: SLF001 - not in PySpark

    timer = threading.Timer(max(seconds, 0.0), cancel)
    timer.daemon = True
    context.setJobGroup(group, "limited", interruptOnCancel=True)
    timer.start()
    try:
        yield over
    except (Py4JJavaError, PySparkException) as error:
        if over.is_set():
            raise TimeoutError(f"not done within {max(seconds, 0.0):.0f} s") from error
        raise
    finally:
        timer.cancel()
        context._jsc.clearJobGroup()  # noqa: SLF001 - not in PySpark
