"""`/healthz`: does this process serve, and which of its parts answer."""

from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse


def healthz(_request: HttpRequest) -> JsonResponse:
    """200 while the database answers; without it nothing can be served."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        database = "ok"
    except DatabaseError as error:
        database = f"away: {type(error).__name__}"
    is_ok = database == "ok"
    body = {"status": "ok" if is_ok else "failing", "parts": {"database": database}}
    return JsonResponse(body, status=200 if is_ok else 503)
