"""`Idempotency-Key`: the same key and body gets the first answer again.

A key with another body is refused with 422, a key whose first request still runs with 409.
The key is reserved before the work and released when the work is refused, so a refused
request may be put right and sent again with the same key.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.common.hashing import content_hash
from controlplane.common.models import IdempotencyKey
from controlplane.common.problems import Conflict, Problem

HEADER = "Idempotency-Key"
KEEP = timedelta(hours=24)
STALE_RESERVATION = timedelta(minutes=2)


def run_idempotently(
    request: Request, tenant_id: str, work: Callable[[], tuple[int, dict[str, Any]]]
) -> Response:
    """Answer `work()`'s (status, body), once per key; without a key just once."""
    key = request.headers.get(HEADER, "")
    if not key:
        status, body = work()
        return Response(body, status=status)
    if len(key) > 200:
        raise Problem("An Idempotency-Key has at most 200 characters.", code="idempotency-key")
    fingerprint = content_hash([request.method, request.path, request.data])
    row = _reserve(tenant_id, key, fingerprint)
    if row.status is not None:
        response = Response(row.response, status=row.status)
        response["Idempotency-Replayed"] = "true"
        return response
    try:
        status, body = work()
    except BaseException:
        IdempotencyKey.objects.filter(pk=row.pk).delete()
        raise
    IdempotencyKey.objects.filter(pk=row.pk).update(status=status, response=body)
    return Response(body, status=status)


def _reserve(tenant_id: str, key: str, fingerprint: str) -> IdempotencyKey:
    horizon = timezone.now() - KEEP
    IdempotencyKey.objects.filter(tenant_id=tenant_id, key=key, created_at__lt=horizon).delete()
    try:
        with transaction.atomic():
            return IdempotencyKey.objects.create(
                tenant_id=tenant_id, key=key, fingerprint=fingerprint
            )
    except IntegrityError:
        found = IdempotencyKey.objects.get(tenant_id=tenant_id, key=key)
    if found.fingerprint != fingerprint:
        raise Problem(
            "This Idempotency-Key was used with another request.",
            status=422,
            code="idempotency-key-reused",
        )
    if found.status is None and found.created_at > timezone.now() - STALE_RESERVATION:
        raise Conflict("The first request with this key is still running.", code="in-progress")
    return found


def forget_old_keys() -> int:
    """Housekeeping: drop keys older than a day."""
    deleted, _ = IdempotencyKey.objects.filter(created_at__lt=timezone.now() - KEEP).delete()
    return deleted
