"""The Celery app: `celery -A controlplane worker`, `celery -A controlplane beat`.

Tasks are sent by name from the outbox (`operations/outbox.py`), never from a transaction.
"""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
app = Celery("penstock")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
