"""The web process: `uvicorn controlplane.asgi:application`, one process."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
_django = get_asgi_application()

from controlplane.common.edge import RequestEdge  # noqa: E402 - settings have to be loaded
from controlplane.operations import outbox  # noqa: E402 - models need the applications loaded

application = RequestEdge(_django)
outbox.drain_in_background()
