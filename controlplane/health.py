"""`/healthz`: does this process serve, which parts answer; `/metrics`: what it counts."""

import hmac

from django.conf import settings
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from prometheus_client import CONTENT_TYPE_LATEST

from controlplane.common.problems import NotFound, Problem
from controlplane.common.views import problem_response
from controlplane.metrics_page import page
from controlplane.postgres.patience import waiting_at_most

ANSWER_S = 3.0
"""A database that takes longer for nothing counts as away."""


def healthz(_request: HttpRequest) -> JsonResponse:
    """200 while the database answers; without it nothing can be served."""
    try:
        with waiting_at_most(ANSWER_S), connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        database = "ok"
    except Error as error:
        database = f"away: {type(error).__name__}"
    is_ok = database == "ok"
    body = {"status": "ok" if is_ok else "failing", "parts": {"database": database}}
    return JsonResponse(body, status=200 if is_ok else 503)


def metrics(request: HttpRequest) -> HttpResponse:
    """Counters for Prometheus, for whoever has the operator's token: they are of all tenants."""
    if not settings.METRICS_TOKEN:
        return problem_response(request, NotFound("There is no metrics page here."))
    wanted = f"Bearer {settings.METRICS_TOKEN}".encode()
    given = request.headers.get("Authorization", "").encode(errors="replace")
    if not hmac.compare_digest(given, wanted):
        refused = Problem("The metrics need their token.", status=401, code="unauthenticated")
        return problem_response(request, refused)
    return HttpResponse(page(), content_type=CONTENT_TYPE_LATEST)
