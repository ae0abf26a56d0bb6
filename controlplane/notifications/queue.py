"""The queue of deliveries in the database: what is due, taking one, and writing how it went."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, Min, OuterRef, Q, QuerySet

from controlplane.common import leases
from controlplane.common.crypto import unseal
from controlplane.common.keyring import SecretUnreadableError
from controlplane.common.metrics import (
    DELIVERIES_DEAD,
    DELIVERIES_FAILED,
    DELIVERIES_SENT,
    LEASES_LOST,
)
from controlplane.notifications import rules
from controlplane.notifications.kinds.message import Target
from controlplane.notifications.models import (
    DEAD,
    OPEN_STATES,
    PENDING,
    RETRYING,
    SENT,
    Delivery,
    Destination,
)
from controlplane.notifications.rules import Outcome
from controlplane.notifications.turns import Waiting
from controlplane.tenants.models import CLOSED

log = logging.getLogger(__name__)
LEASE = timedelta(seconds=45)
"""Longer than the longest attempt: a process that was killed meanwhile holds a delivery so long."""
WAITING_MAX = 1_000
"""Destinations looked at in one go; those that answer come first."""
PREVIOUS_SECRET = "previous_signing_secret"  # noqa: S105 - a name


SECRETS_UNREADABLE = Outcome(
    is_delivered=False,
    code="secrets",
    text="The service cannot read the secrets of this destination: give them again.",
    is_retriable=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A delivery that this process holds, with all that an attempt needs."""

    delivery_id: str
    token: str
    destination_id: str
    kind: str
    event: dict[str, Any]
    target: Target = field(repr=False)
    attempt: int
    tries: int
    queued_at: datetime


def due(now: datetime) -> QuerySet[Delivery]:
    """Deliveries to be tried, none before an earlier one of its alert to the same destination."""
    rows = Delivery.objects.filter(
        leases.free(), state__in=OPEN_STATES, next_try_at__lte=now, destination__enabled=True
    )
    return rows.exclude(tenant__state=CLOSED).filter(~Exists(_before()))


def _before() -> QuerySet[Delivery]:
    """Open ones that have to end before the outer row."""
    same = Delivery.objects.filter(
        destination_id=OuterRef("destination_id"),
        alert_id=OuterRef("alert_id"),
        state__in=OPEN_STATES,
    )
    return same.filter(
        Q(ordinal__lt=OuterRef("ordinal")) | Q(ordinal=OuterRef("ordinal"), pk__lt=OuterRef("pk"))
    )


def waiting(now: datetime) -> list[Waiting]:
    """Destinations with something due, those whose last delivery did not fail first."""
    rows = (
        due(now)
        .values("destination_id", "tenant_id", "destination__failures")
        .annotate(oldest=Min("next_try_at"))
        .order_by("destination__failures", "oldest")
    )
    return [
        Waiting(
            destination_id=row["destination_id"],
            tenant_id=row["tenant_id"] or "",
            is_doubtful=row["destination__failures"] > 0,
        )
        for row in rows[:WAITING_MAX]
    ]


def take(destination_id: str, now: datetime) -> Job | None:
    """Hold the destination's first due delivery; None: there is none, or another process has it.

    The attempt is counted before it is made: whoever takes the row of a process that was killed
    counts on, and the receiver sees that it may have it already.
    """
    candidates = due(now).filter(destination_id=destination_id).order_by("next_try_at", "pk")
    pk = candidates.values_list("pk", flat=True).first()
    if pk is None:
        return None
    free = Delivery.objects.filter(pk=pk, state__in=OPEN_STATES).filter(~Exists(_before()))
    again: dict[str, Any] = {
        "attempts": F("attempts") + 1,
        "tries": F("tries") + 1,
        "tried_at": now,
    }
    token = leases.claim(free, LEASE, **again)
    row = Delivery.objects.select_related("destination").filter(pk=pk, lease_token=token).first()
    if token is None or row is None:
        return None
    try:
        target = target_of(row.destination, now)
    except SecretUnreadableError:
        log.warning("the secrets of destination %s cannot be read", row.destination_id)
        job = _job(row, token, Target(config={}, secrets={}))
        record(job, SECRETS_UNREADABLE, now, entropy=lambda: 0.5)
        return None
    return _job(row, token, target)


def _job(row: Delivery, token: str, target: Target) -> Job:
    return Job(
        delivery_id=row.pk,
        token=token,
        destination_id=row.destination_id,
        kind=row.destination.kind,
        event=row.event,
        target=target,
        attempt=row.attempts,
        tries=row.tries,
        queued_at=row.queued_at,
    )


def target_of(destination: Destination, now: datetime) -> Target:
    """With the secrets open, of a webhook the one of before while it counts.

    Raises:
        SecretUnreadableError: no key of the deployment opens them.
    """
    secrets = unseal(destination.secrets_token) if destination.secrets_token else {}
    ends_at = destination.rotation_ends_at
    if ends_at is None or ends_at <= now:
        secrets.pop(PREVIOUS_SECRET, None)
    return Target(config=destination.config, secrets=secrets)


def record(job: Job, outcome: Outcome, now: datetime, *, entropy: Callable[[], float]) -> str:
    """Write down how an attempt ended; the new state, empty when the row is another process's."""
    wait_s, why = None, ""
    if not outcome.is_delivered:
        wait_s, why = rules.next_try_s(
            outcome, tries=job.tries, age=now - job.queued_at, entropy=entropy
        )
    with transaction.atomic():
        # The destination first, as whoever deletes it does.
        destinations = Destination.objects.select_for_update().filter(pk=job.destination_id)
        rows = Delivery.objects.select_for_update().filter(pk=job.delivery_id)
        row = rows.filter(lease_token=job.token).first() if destinations.first() else None
        if row is None:
            LEASES_LOST.inc()
            return ""
        if wait_s is None:
            row.move_to(SENT if outcome.is_delivered else DEAD)
            row.ended_at = now
        else:
            row.next_try_at = now + timedelta(seconds=wait_s)
            if row.state == PENDING:
                row.move_to(RETRYING)
        row.drop_lease()
        row.status = outcome.status
        row.error_code = "" if outcome.is_delivered else (why or outcome.code)[:60]
        row.error_text = outcome.text[:300]
        row.save()
        _note(job.destination_id, outcome, now)
    _count(job.kind, row.state)
    return row.state


def _note(destination_id: str, outcome: Outcome, now: datetime) -> None:
    rows = Destination.objects.filter(pk=destination_id)
    if outcome.is_delivered:
        rows.update(failures=0, last_sent_at=now, last_error="")
    else:
        text = f"{outcome.code}: {outcome.text}"[:300]
        rows.update(failures=F("failures") + 1, last_failed_at=now, last_error=text)


def _count(kind: str, state: str) -> None:
    if state == SENT:
        DELIVERIES_SENT.inc(of=kind)
        return
    DELIVERIES_FAILED.inc(of=kind)
    if state == DEAD:
        DELIVERIES_DEAD.inc(of=kind)
