"""The Celery app: `celery -A controlplane worker`, `celery -A controlplane beat`.

Tasks are sent by name from the outbox (`operations/outbox.py`), never from a transaction.
"""

import os
import time
from typing import Any

from celery import Celery
from celery.signals import (
    beat_init,
    before_task_publish,
    worker_init,
    worker_ready,
    worker_shutdown,
)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
app = Celery(
    "penstock",
    amqp="controlplane.queue_link:SteadyAMQP",
    task_cls="controlplane.task_base:DatabaseTask",
)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@before_task_publish.connect
def note_time(headers: dict[str, Any] | None = None, **_: Any) -> None:
    from controlplane.operations.queues import QUEUED_AT

    if headers is not None:
        headers[QUEUED_AT] = time.time()


@worker_init.connect
def bound_waiting(**_: Any) -> None:
    from django.conf import settings

    from controlplane.postgres import patience

    patience.wait_at_most(settings.WORKER_DATABASE_ANSWER_S)


@beat_init.connect
def bound_waiting_of_beat(**_: Any) -> None:
    from django.conf import settings

    from controlplane.postgres import patience

    patience.wait_at_most(settings.DATABASE_ANSWER_S)


@worker_ready.connect
def begin_upkeep(**_: Any) -> None:
    from controlplane import upkeep  # models need the applications loaded
    from controlplane.clusters.probing import Probes, use_probes

    upkeep.start()
    use_probes(Probes())


@worker_shutdown.connect
def end_upkeep(**_: Any) -> None:
    from controlplane import upkeep

    upkeep.stop()
