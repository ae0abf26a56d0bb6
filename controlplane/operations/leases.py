"""A lease on an operation: one worker at a time takes a step, and a dead one loses its hold.

The token is the fence: an outcome is stored only while the row still holds our token.
"""

import secrets
from datetime import timedelta

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from controlplane.operations.models import Operation
from controlplane.operations.states import ACTIVE_STATES


def claim(operation_id: str) -> str | None:
    """A fresh token, or None when the operation is over or someone else holds it."""
    now = timezone.now()
    token = secrets.token_hex(12)
    claimed = (
        Operation.objects.filter(id=operation_id, state__in=ACTIVE_STATES)
        .filter(Q(lease_expires_at=None) | Q(lease_expires_at__lt=now))
        .update(lease_token=token, lease_expires_at=now + _length())
    )
    return token if claimed else None


def renew(operation_id: str, token: str) -> bool:
    renewed = Operation.objects.filter(id=operation_id, lease_token=token).update(
        lease_expires_at=timezone.now() + _length()
    )
    return bool(renewed)


def _length() -> timedelta:
    return timedelta(seconds=settings.OPERATION_LEASE_S)
