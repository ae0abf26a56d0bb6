"""Idempotency keys, and the columns of rows that have a lease or a state."""

from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Case, F, QuerySet, Value, When

from controlplane.common.fields import SealedField
from controlplane.common.transitions import Transitions


class Leased(models.Model):
    """A row that one worker at a time works on; `leases` takes and gives the lease."""

    lease_token = models.CharField(max_length=40, blank=True)
    lease_expires_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    def drop_lease(self) -> None:
        """Give the lease back with whatever else changes; the caller holds the row and saves."""
        self.lease_token, self.lease_expires_at = "", None


class Stateful(models.Model):
    """A row whose `state` moves by a table and not otherwise."""

    moves: ClassVar[Transitions]
    state: Any

    class Meta:
        abstract = True

    def move_to(self, state: str) -> None:
        """Change the state; the caller holds the row and saves.

        Raises:
            IllegalTransitionError: the table has no such move.
        """
        self.moves.check(self.state, state)
        self.state = state

    @classmethod
    def moving(cls, before: str, after: str) -> Case:
        """A new `state` for an update of other columns: rows in `before` go to `after`.

        Raises:
            IllegalTransitionError: the table has no such move.
        """
        cls.moves.check(before, after)
        return Case(When(state=before, then=Value(after)), default=F("state"))

    @classmethod
    def move_some(cls, rows: QuerySet[Self], before: str, after: str, **also: Any) -> None:
        """Move those of `rows` that are in `before`; all of them get `also`. One UPDATE.

        Raises:
            IllegalTransitionError: the table has no such move.
        """
        rows.update(state=cls.moving(before, after), **also)

    @classmethod
    def move_all(cls, rows: QuerySet[Self], state: str, **also: Any) -> int:
        """Move those of `rows` that may go there, with `also` as their new values; how many did.

        It is one UPDATE: of two that move a row at once, one finds it moved.
        """
        return rows.filter(state__in=cls.moves.sources(state)).update(state=state, **also)


class IdempotencyKey(Leased):
    """What a request with this key did: one row per caller and key for a day.

    `status` is null until the request is done; whoever has the lease is at it. `answer` is body and
    headers, packed and sealed; empty once its time is over, or when it was too large to keep.
    """

    tenant_id = models.CharField(max_length=40)
    principal = models.CharField(max_length=60)
    key = models.CharField(max_length=200)
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    answer = SealedField(blank=True)
    answer_ends_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant_id", "principal", "key"], name="idempotency_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.tenant_id}:{self.principal}:{self.key}"
