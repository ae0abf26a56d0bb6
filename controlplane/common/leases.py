"""Leases on rows: one worker at a time holds one, and a dead one loses its hold.

The token is the fence: what a holder finds out counts only while the row still has its token. When
a lease runs out is the database's clock to say, so that hosts whose clocks differ agree about it.
"""

import secrets
from collections.abc import Collection
from datetime import timedelta
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from controlplane.common.models import Leased

Row = TypeVar("Row", bound=Leased)


def free() -> Q:
    """Rows that nobody holds when the statement runs."""
    return Q(lease_expires_at=None) | Q(lease_expires_at__lt=Now())


def claim(
    rows: QuerySet[Row], length: timedelta, *, skips_locked: bool = False, **also: Any
) -> str | None:
    """Take the one row of `rows`, with `also` as its new values: a fresh token.

    None when there is no such row (any more), or when somebody else holds it. With `skips_locked`
    whoever has the row locked in a transaction holds it too, and is not waited for.
    """
    token = secrets.token_hex(12)
    new = {"lease_token": token, "lease_expires_at": Now() + length, **also}
    if not skips_locked:
        return token if rows.filter(free()).update(**new) else None
    with transaction.atomic():
        unlocked = rows.filter(free()).select_for_update(skip_locked=True).values("pk")
        taken = QuerySet(rows.model).filter(free(), pk__in=unlocked).update(**new)
    return token if taken else None


def renew(rows: QuerySet[Row], tokens: Collection[str], length: timedelta) -> set[str]:
    """Hold on to all of `rows` for `length` from now: those of `tokens` that still hold theirs.

    The others' rows were taken by somebody else, or given back. A lease that ran out and that
    nobody took meanwhile is held again: it was nobody else's in between.
    """
    held = rows.filter(lease_token__in=tokens)
    if held.update(lease_expires_at=Now() + length) == len(tokens):
        return set(tokens)
    return set(held.values_list("lease_token", flat=True))


def release(rows: QuerySet[Row], token: str, **also: Any) -> bool:
    """Give the row back, with `also` as its new values. False when another one has taken it."""
    given = rows.filter(lease_token=token).update(lease_token="", lease_expires_at=None, **also)
    return bool(given)
