"""Leases on rows: one worker at a time holds one, and a dead one loses its hold.

The token is the fence: what a holder finds out counts only while the row still has its token.
"""

import secrets
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db.models import Q, QuerySet
from django.utils import timezone

from controlplane.common.models import Leased

Row = TypeVar("Row", bound=Leased)


def free(now: datetime) -> Q:
    """Rows that nobody holds at this time."""
    return Q(lease_expires_at=None) | Q(lease_expires_at__lt=now)


def claim(rows: QuerySet[Row], length: timedelta, **also: Any) -> str | None:
    """Take the one row of `rows`, with `also` as its new values: a fresh token.

    None when there is no such row (any more), or when somebody else holds it.
    """
    now = timezone.now()
    token = secrets.token_hex(12)
    taken = rows.filter(free(now)).update(lease_token=token, lease_expires_at=now + length, **also)
    return token if taken else None


def renew(rows: QuerySet[Row], token: str, length: timedelta) -> bool:
    """Hold on for `length` from now. False when another one has taken the row."""
    expires_at = timezone.now() + length
    return bool(rows.filter(lease_token=token).update(lease_expires_at=expires_at))


def release(rows: QuerySet[Row], token: str, **also: Any) -> bool:
    """Give the row back, with `also` as its new values. False when another one has taken it."""
    given = rows.filter(lease_token=token).update(lease_token="", lease_expires_at=None, **also)
    return bool(given)
