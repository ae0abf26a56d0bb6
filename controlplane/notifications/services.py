"""Writes: what is told to whom, destinations, deliveries sent again, and what is forgotten."""

import itertools
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from controlplane.audit.services import Actor, audit_record
from controlplane.clusters.models import Cluster
from controlplane.common import leases
from controlplane.common.crypto import seal, unseal
from controlplane.common.holds import hold
from controlplane.common.ids import new_id
from controlplane.common.keyring import SecretUnreadableError
from controlplane.common.metrics import DELIVERIES_DEAD, DELIVERIES_LEFT_OUT
from controlplane.common.problems import Conflict, NotFound, TooManyRequests, field_problem
from controlplane.common.ratelimit import DESTINATION_TESTS, seconds_to_wait
from controlplane.notifications import inputs, queue, rules, sending
from controlplane.notifications.events import FIRING, INFO, RESOLVED, AlertEvent, as_json, bounded
from controlplane.notifications.kinds.message import Stamp
from controlplane.notifications.kinds.table import KINDS, WEBHOOK
from controlplane.notifications.models import (
    DEAD,
    OPEN_STATES,
    PENDING,
    SENT,
    Delivery,
    Destination,
    Owner,
)
from controlplane.notifications.rules import Filters, Outcome
from controlplane.notifications.selectors import (
    delivery_row,
    destination_row,
    destinations,
    recorded,
)
from controlplane.tenants.models import Tenant

DESTINATIONS_MAX = 50
"""Of one tenant, and of the operators together."""
OPERATORS = "operators"
"""As what tests of the operators' destinations are counted; no tenant's id is like it."""
ROWS_A_STATEMENT = 500
OPEN_MAX = 5_000
"""Deliveries that wait for one destination: more are not written, and counted."""
ROTATION = timedelta(hours=24)
"""How long webhooks are also signed with the secret of before."""
KEPT = timedelta(days=30)
DELETE_BATCH, BATCHES_MAX = 1_000, 50
TESTS_AT_ONCE = 4
"""In one process: each holds a thread of it until its receiver answers."""
TESTS = threading.BoundedSemaphore(TESTS_AT_ONCE)


# -- events -------------------------------------------------------------------------------------
def publish(event: AlertEvent) -> int:
    """`publish_all`, of one event."""
    return publish_all([event])


def publish_all(events: Sequence[AlertEvent]) -> int:
    """Have every enabled destination of its owner that wants an event told; how many deliveries.

    Written in the caller's transaction: told is what was committed. The same event again is not
    told again. Events of one alert are in the order in which they are to be told.

    Raises:
        ValueError: as `bounded`.
        RuntimeError: outside a transaction.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("events are published inside a transaction")
    of_owner: defaultdict[str | None, list[AlertEvent]] = defaultdict(list)
    for event in events:
        of_owner[event.tenant_id].append(bounded(event))
    made = [delivery for owner, own in of_owner.items() for delivery in _deliveries(owner, own)]
    Delivery.objects.bulk_create(made, batch_size=ROWS_A_STATEMENT)
    return len(made)


def _deliveries(tenant_id: str | None, events: Sequence[AlertEvent]) -> Iterator[Delivery]:
    """Of one owner, null: operators. However many events, in a few statements a destination."""
    own = Q(tenant__isnull=True) if tenant_id is None else Q(tenant_id=tenant_id)
    rows = list(Destination.objects.filter(own, enabled=True).order_by("pk"))
    if not rows:
        return
    filters = {row.pk: _filters(row) for row in rows}
    told = _told(rows, [event.alert_id for event in events])
    there = _there(rows, [event.event_id for event in events])
    room = {row.pk: OPEN_MAX - _waiting(row) for row in rows}
    now = timezone.now()
    for event, row in itertools.product(events, rows):
        of_alert, of_event = (row.pk, event.alert_id), (row.pk, event.event_id)
        was_told = of_alert in told
        if of_event in there or not rules.wants(filters[row.pk], event, was_told=was_told):
            continue
        if room[row.pk] <= 0:
            DELIVERIES_LEFT_OUT.inc(of=row.kind)
            continue
        room[row.pk] -= 1
        told[of_alert] = told.get(of_alert, 0) + 1
        there.add(of_event)
        yield Delivery(
            tenant_id=tenant_id,
            destination=row,
            alert_id=event.alert_id,
            event_id=event.event_id,
            event_state=event.state,
            rule=event.rule,
            severity=event.severity,
            event=as_json(event),
            ordinal=told[of_alert],
            queued_at=now,
            next_try_at=now,
            created_at=now,
        )


def _told(rows: list[Destination], alert_ids: Sequence[str]) -> dict[tuple[str, str], int]:
    """The greatest ordinal by destination and alert."""
    found: dict[tuple[str, str], int] = {}
    for ids in _batches(alert_ids):
        of_alerts = Delivery.objects.filter(destination__in=rows, alert_id__in=ids).order_by()
        last = of_alerts.values("destination_id", "alert_id").annotate(last=Max("ordinal"))
        for destination_id, alert_id, ordinal in last.values_list(
            "destination_id", "alert_id", "last"
        ):
            found[destination_id, alert_id] = ordinal
    return found


def _there(rows: list[Destination], event_ids: Sequence[str]) -> set[tuple[str, str]]:
    """By destination the events that are told already."""
    found: set[tuple[str, str]] = set()
    for ids in _batches(event_ids):
        known = Delivery.objects.filter(destination__in=rows, event_id__in=ids)
        found.update(known.values_list("destination_id", "event_id"))
    return found


def _batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for first in range(0, len(ids), ROWS_A_STATEMENT):
        yield ids[first : first + ROWS_A_STATEMENT]


def _waiting(row: Destination) -> int:
    """Deliveries that wait for it, counted up to the most that may."""
    return Delivery.objects.filter(destination=row, state__in=OPEN_STATES)[:OPEN_MAX].count()


def _filters(row: Destination) -> Filters:
    return Filters(
        min_severity=row.min_severity,
        rules=row.rules,
        clusters=row.clusters,
        send_resolved=row.send_resolved,
    )


# -- destinations -------------------------------------------------------------------------------
@transaction.atomic
def destination_create(
    *,
    owner: Owner,
    actor: Actor,
    name: str,
    kind: str,
    config: Mapping[str, Any] | None = None,
    secrets: Mapping[str, str] | None = None,
    **fields: Any,
) -> Destination:
    """Made as it is given.

    Raises:
        Conflict: the name is taken, or there are too many.
        NotFound: the tenant has no such cluster; operators name none.
        Problem: as `inputs.check`.
    """
    inputs.check(kind, config or {}, secrets or {})
    _check_clusters(owner, fields.get("clusters", []))
    _hold(owner)  # so that the count holds
    _check_name(owner, name)
    if destinations(owner).count() >= DESTINATIONS_MAX:
        whose = "A tenant has" if owner is not None else "Operators have"
        raise Conflict(f"{whose} at most {DESTINATIONS_MAX} destinations.", code="too-many")
    row = Destination.objects.create(
        tenant=owner,
        name=name,
        kind=kind,
        config=dict(config or {}),
        secrets_token=seal(dict(secrets)) if secrets else "",
        **fields,
    )
    _audit(actor, row, "create", before=None, after=recorded(row))
    return row


@transaction.atomic
def destination_update(
    *, owner: Owner, actor: Actor, destination_id: str, **change: Any
) -> Destination:
    """Change what is given. Raises NotFound, Conflict, Problem as `destination_create`."""
    row = destination_row(owner, destination_id, locked=True)
    before = recorded(row)
    config, given = change.pop("config", None), change.pop("secrets", None) or {}
    if change.get("name", row.name) != row.name:
        _hold(owner)
        _check_name(owner, change["name"])
    _check_clusters(owner, change.get("clusters", []))
    _change_way(row, config, given)
    for name, value in change.items():
        setattr(row, name, value)
    row.save()
    after = {**recorded(row), "way_changed": config is not None, "secrets_changed": bool(given)}
    _audit(actor, row, "update", before=before, after=after)
    return row


def _opened(row: Destination) -> dict[str, Any]:
    """The secrets; none when no key opens them any more, so that they can be given again."""
    try:
        return unseal(row.secrets_token) if row.secrets_token else {}
    except SecretUnreadableError:
        return {}


def _change_way(
    row: Destination, config: Mapping[str, Any] | None, given: Mapping[str, str]
) -> None:
    """The address and the secrets of a row that is held."""
    if config is None and not given:
        return
    kept = _opened(row)
    previous = kept.pop(queue.PREVIOUS_SECRET, None)
    wanted = row.config if config is None else dict(config)
    inputs.check(row.kind, wanted, given, kept)
    if KINDS[row.kind].sends_secrets and wanted != row.config and set(kept) - set(given):
        raise field_problem(
            "/secrets",
            "With another address or authority the secrets are given again: otherwise whoever"
            " changes the address could have them sent to a server of their own.",
            "required",
        )
    secrets = {**kept, **given}
    old = kept.get("signing_secret")
    if row.kind == WEBHOOK and old and given.get("signing_secret", old) != old:
        previous, row.rotation_ends_at = old, timezone.now() + ROTATION
    if previous:
        secrets[queue.PREVIOUS_SECRET] = previous
    row.config, row.secrets_token = wanted, seal(secrets) if secrets else ""


@transaction.atomic
def destination_delete(*, owner: Owner, actor: Actor, destination_id: str) -> None:
    """With all of its deliveries. Raises NotFound."""
    row = destination_row(owner, destination_id, locked=True)
    before = recorded(row)
    Delivery.objects.filter(destination=row).delete()
    _audit(actor, row, "delete", before=before, after=None)
    row.delete()


def _hold(owner: Owner) -> None:
    """One transaction at a time adds or renames a destination of one owner."""
    if owner is None:
        hold("destinations of operators")
    else:
        Tenant.objects.select_for_update().get(pk=owner.pk)


def _check_name(owner: Owner, name: str) -> None:
    if destinations(owner).filter(name=name).exists():
        raise Conflict(f"There is a destination called {name}.", code="name-taken")


def _check_clusters(owner: Owner, ids: list[str]) -> None:
    if not ids:
        return
    if owner is None:
        raise field_problem("/clusters", "Alerts about hosts are about no cluster: name none.")
    own = Cluster.objects.filter(tenant=owner, deleted_at=None, pk__in=ids)
    known = set(own.values_list("pk", flat=True))
    if set(ids) - known:
        raise NotFound("Cluster not found.")


def _audit(actor: Actor, row: Destination, what: str, **data: Any) -> None:
    audit_record(
        tenant_id=row.tenant_id or "",
        actor=actor,
        action=f"destination.{what}",
        resource=f"destination/{row.pk}",
        data=data,
    )


# -- a test, and again --------------------------------------------------------------------------
def destination_test(*, owner: Owner, actor: Actor, destination_id: str) -> tuple[Outcome, int]:
    """Send a test event now; how that ended, and how many ms it took.

    Raises:
        NotFound: the owner has no such destination.
        TooManyRequests: too many tests of the owner in a minute, or of all at a time.
    """
    row = destination_row(owner, destination_id)
    wait_s = seconds_to_wait(DESTINATION_TESTS, OPERATORS if owner is None else owner.pk)
    if wait_s is not None:
        raise TooManyRequests(f"Try again in {wait_s} s.", retry_after_s=wait_s)
    if not TESTS.acquire(blocking=False):
        raise TooManyRequests("Other destinations are being tested.", retry_after_s=5)
    began_s = time.monotonic()
    try:
        outcome = _send_test(row)
    finally:
        TESTS.release()
    with transaction.atomic():
        _audit(actor, row, "test", name=row.name, kind=row.kind, code=outcome.code)
    return outcome, round((time.monotonic() - began_s) * 1000)


def _send_test(row: Destination) -> Outcome:
    now = timezone.now()
    event = AlertEvent(
        event_id=new_id("ev"),
        alert_id=new_id("test"),
        tenant_id=row.tenant_id,
        cluster_id=None,
        cluster_name="",
        rule="test",
        severity=INFO,
        state=FIRING,
        summary="This is a test of a Penstock destination",
        description="Somebody asked for it in Penstock. There is nothing to do.",
        labels={},
        values={},
        runbook="",
        runbook_url="",
        console_url="",
        started_at=now,
        occurred_at=now,
        resolved_at=None,
    )
    events = [event]
    if KINDS[row.kind].keeps_state:
        events.append(replace(event, event_id=new_id("ev"), state=RESOLVED, resolved_at=now))
    try:
        target = queue.target_of(row, now)
    except SecretUnreadableError:
        return queue.SECRETS_UNREADABLE
    outcome = Outcome(is_delivered=False, code="not-sent")
    for each in events:
        stamp = Stamp(delivery_id=new_id("nd"), attempt=1, sent_at=now)
        outcome = sending.attempt(row.kind, each, target, stamp)
        if not outcome.is_delivered:
            break
    return outcome


@transaction.atomic
def delivery_resend(*, owner: Owner, actor: Actor, delivery_id: str) -> Delivery:
    """Try a dead delivery anew.

    Raises:
        NotFound: the owner has no such delivery.
        Conflict: it is not dead; or the receiver knows by now how the alert went on (or is being
            told), so that the older news would be taken for the newest.
    """
    row = delivery_row(owner, delivery_id, locked=True)
    if row.state != DEAD:
        raise Conflict(f"It is {row.state}; only dead ones are sent again.", code="not-dead")
    later = Delivery.objects.filter(
        destination_id=row.destination_id, alert_id=row.alert_id, ordinal__gt=row.ordinal
    )
    if later.filter(Q(state=SENT) | (Q(state__in=OPEN_STATES) & ~leases.free())).exists():
        raise Conflict("A later notification of this alert was already sent.", code="superseded")
    row.move_to(PENDING)
    row.tries, row.ended_at = 0, None
    row.queued_at = row.next_try_at = timezone.now()
    row.save()
    audit_record(
        tenant_id=row.tenant_id or "",
        actor=actor,
        action="delivery.resend",
        resource=f"delivery/{row.pk}",
        data={"name": row.destination.name, "kind": row.destination.kind},
    )
    return row


# -- upkeep -------------------------------------------------------------------------------------
def tidy() -> int:
    """End what waits for too long, forget old secrets and old deliveries; how many of these."""
    now = timezone.now()
    _expire()
    _forget_old_secrets()
    old = Delivery.objects.filter(ended_at__lt=now - KEPT).order_by("ended_at")
    gone = 0
    for _ in range(BATCHES_MAX):
        batch = list(old.values_list("pk", flat=True)[:DELETE_BATCH])
        gone += Delivery.objects.filter(pk__in=batch).delete()[0]
        if len(batch) < DELETE_BATCH:
            break
    return gone


def _expire() -> None:
    """Those of destinations that are switched off, too: nobody wants yesterday's alerts."""
    now = timezone.now()
    old = Delivery.objects.filter(
        leases.free(), state__in=OPEN_STATES, queued_at__lt=now - rules.AGE_MAX
    )
    for kind in KINDS:
        batch = list(old.filter(destination__kind=kind).values_list("pk", flat=True)[:DELETE_BATCH])
        rows = Delivery.objects.filter(leases.free(), pk__in=batch)
        moved = Delivery.move_all(rows, DEAD, error_code=rules.TOO_OLD, ended_at=now)
        if moved:
            DELIVERIES_DEAD.inc(moved, of=kind)


def _forget_old_secrets() -> None:
    over = Destination.objects.filter(rotation_ends_at__lt=timezone.now())
    for pk in list(over.values_list("pk", flat=True)[:DELETE_BATCH]):
        with transaction.atomic():
            row = Destination.objects.select_for_update().filter(pk=pk).first()
            if row is None:
                continue
            secrets = _opened(row)
            if secrets.pop(queue.PREVIOUS_SECRET, None):
                row.secrets_token = seal(secrets)
            row.rotation_ends_at = None
            row.save(update_fields=["secrets_token", "rotation_ends_at"])
