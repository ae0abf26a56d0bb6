"""The web process: `uvicorn controlplane.asgi:application`, one process."""

import os

from django.conf import settings
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
_django = get_asgi_application()

from controlplane.common.edge import RequestEdge, behind_proxies  # noqa: E402 - settings have to be loaded
from controlplane.operations import outbox  # noqa: E402 - models need the applications loaded

application = behind_proxies(RequestEdge(_django), settings.TRUSTED_PROXIES)
outbox.drain_in_background()
