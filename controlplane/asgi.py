"""The web process: `uvicorn controlplane.asgi:application`, one process."""

import atexit
import os

from django.conf import settings
from django.core.asgi import get_asgi_application
from django.db import connections
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
_django = get_asgi_application()

from controlplane import upkeep  # noqa: E402 - models need the applications loaded
from controlplane.common import garbage  # noqa: E402 - beside its like
from controlplane.common.edge import guarded  # noqa: E402 - settings have to be loaded
from controlplane.operations import outbox  # noqa: E402 - models need the applications loaded
from controlplane.postgres import patience  # noqa: E402 - beside its like

# Every request has a thread of its own: a connection that is kept is never used again, only kept.
for _database in connections.settings.values():
    _database["CONN_MAX_AGE"] = 0
patience.wait_at_most(settings.DATABASE_ANSWER_S)
application = guarded(_django)
# Views are loaded by the first request otherwise.
get_resolver().url_patterns  # noqa: B018 - it loads them
garbage.keep_what_is_loaded()
outbox.drain_in_background()
upkeep.start()
atexit.register(upkeep.stop)
