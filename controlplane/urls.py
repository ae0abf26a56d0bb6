"""Every address: `/api/v1` and `/agents/join` here, `/console` and the pages by the console,
`/healthz`, `/readyz`.
"""

import importlib.util

from django.urls import URLPattern, URLResolver, include, path, re_path

from controlplane.administration.api.host_tokens import JoinView
from controlplane.common.views import DocumentView, api_index, no_such_api
from controlplane.health import healthz, metrics, readyz
from controlplane.operations import schema as _kinds  # noqa: F401 - names the kinds for OpenAPI
from controlplane.tenants import schema as _schema  # noqa: F401 - names the ways in for OpenAPI

api_v1: list[URLPattern | URLResolver] = [
    path("openapi.json", DocumentView.as_view()),
    path("", include("controlplane.tenants.urls")),
    path("", include("controlplane.operations.urls")),
    path("", include("controlplane.clusters.urls")),
    path("", include("controlplane.healing.urls")),
    path("", include("controlplane.messages.urls")),
    path("", include("controlplane.topics.urls")),
    path("", include("controlplane.access.urls")),
    path("", include("controlplane.reassignments.urls")),
    path("", include("controlplane.groups.urls")),
    path("", include("controlplane.drift.urls")),
    path("", include("controlplane.administration.urls")),
    path("", include("controlplane.notifications.urls")),
]
if importlib.util.find_spec("controlplane.analytics.urls"):
    api_v1.append(path("", include("controlplane.analytics.urls")))
api_v1.append(path("", include("controlplane.runbooks.urls")))
api_v1.append(path("", include("controlplane.alerts.urls")))
api_v1.append(path("", include("controlplane.timeline.urls")))
api_v1.append(re_path(r"^.*$", no_such_api))

urlpatterns: list[URLPattern | URLResolver] = [
    path("agents/join", JoinView.as_view()),
    path("healthz", healthz),
    path("readyz", readyz),
    path("metrics", metrics),
    re_path(r"^api/v1/?$", api_index),
    path("api/v1/", include(api_v1)),
    # Before the console's page for everything else: a client of the API never gets HTML.
    re_path(r"^api(?:/.*)?$", no_such_api),
]
if importlib.util.find_spec("console.urls"):
    # The console's urls hold /console/… and, last of all, the page for everything else.
    urlpatterns.append(path("", include("console.urls")))

handler400 = "controlplane.common.views.bad_request"
handler403 = "controlplane.common.views.forbidden"
handler404 = "controlplane.common.views.not_found"
handler500 = "controlplane.common.views.server_error"
