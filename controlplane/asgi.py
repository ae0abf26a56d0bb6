"""The web process: `uvicorn controlplane.asgi:application`, one process."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
application = get_asgi_application()

from controlplane.operations import outbox  # noqa: E402 - models need the applications loaded

outbox.drain_in_background()
