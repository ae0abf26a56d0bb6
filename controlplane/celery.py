"""The Celery app: `celery -A controlplane worker`, `celery -A controlplane beat`.

Tasks are sent by name from the outbox (`operations/outbox.py`), never from a transaction.
"""

import os
from typing import Any

from celery import Celery
from celery.signals import worker_ready, worker_shutdown

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
app = Celery("penstock")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_ready.connect
def begin_upkeep(**_: Any) -> None:
    from controlplane import upkeep  # models need the applications loaded

    upkeep.start()


@worker_shutdown.connect
def end_upkeep(**_: Any) -> None:
    from controlplane import upkeep

    upkeep.stop()
