"""`/healthz`: is the service whole; `/readyz`: can this process serve; `/metrics`: counters."""

import hmac
import time

from django.conf import settings
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from prometheus_client import CONTENT_TYPE_LATEST
from redis.exceptions import RedisError

from controlplane import heartbeat
from controlplane.common.problems import NotFound, Problem
from controlplane.common.redis_link import LINK
from controlplane.common.views import problem_response
from controlplane.common.words import counted
from controlplane.metrics_page import page
from controlplane.postgres.patience import waiting_at_most

ANSWER_S = 3.0
"""A database that takes longer for nothing counts as away."""
OK = "ok"


def healthz(_request: HttpRequest) -> JsonResponse:
    """200 while everything that the service needs answers; for whoever is on call.

    A proxy asks `/readyz` in its place: a beat that is missing is no reason to send nobody to the
    console any more.
    """
    return _answer(_serving() | {"redis": _redis(), "beat": _beat()})


def readyz(_request: HttpRequest) -> JsonResponse:
    """200 while this process can serve: the database answers, and has this code's migrations."""
    return _answer(_serving())


def _answer(parts: dict[str, str]) -> JsonResponse:
    is_ok = all(said == OK for said in parts.values())
    body = {"status": OK if is_ok else "failing", "parts": parts}
    return JsonResponse(body, status=200 if is_ok else 503)


def _serving() -> dict[str, str]:
    try:
        with waiting_at_most(ANSWER_S):
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
            return {"database": OK, "migrations": MIGRATIONS.said()}
    except Error as error:
        return {"database": f"away: {type(error).__name__}", "migrations": "unknown"}


class Migrations:
    """Those of this code that the database lacks. Once there are none it is not asked again: what
    comes later belongs to later code.
    """

    CHECK_AGAIN_S = 5.0
    """Reading which there are takes a good part of a second."""

    def __init__(self) -> None:
        self._said = ""
        self._checked_s = 0.0

    def said(self) -> str:
        """Raises django.db.Error."""
        now_s = time.monotonic()
        if self._said != OK and (not self._said or now_s - self._checked_s > self.CHECK_AGAIN_S):
            self._said, self._checked_s = self._read(), now_s
        return self._said

    @staticmethod
    def _read() -> str:
        executor = MigrationExecutor(connection)
        lacking = executor.migration_plan(executor.loader.graph.leaf_nodes())
        return f"{counted(len(lacking), 'migration')} not applied" if lacking else OK


MIGRATIONS = Migrations()


def _redis() -> str:
    try:
        LINK.call(lambda client: client.ping())
    except RedisError as error:
        return f"away: {type(error).__name__}"
    return OK


def _beat() -> str:
    try:
        last_s = heartbeat.last_s()
    except RedisError:
        return "unknown: Redis is away"
    if last_s is None:
        return "missing: it has never sent anything"
    age_s = time.time() - last_s
    if age_s > heartbeat.MISSING_AFTER_S:
        return f"missing: it last sent something {age_s:.0f} s ago"
    return OK


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
