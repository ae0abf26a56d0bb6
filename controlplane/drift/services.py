"""Looks at clusters: since when something is not as it was left, and who did it; kept as rows.

A look is bounded and may be repeated: whoever is killed in it leaves the rows of the look before.
Brokers and hosts have `LOOK_S` for all of their answers together; what they did not say by then is
unknown.
"""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from controlplane.clusters.connections import gateway_for
from controlplane.clusters.models import RUNNING, Cluster
from controlplane.clusters.selectors import reader_of
from controlplane.common import leases
from controlplane.common.grants import EVERYTHING
from controlplane.common.times import iso
from controlplane.common.words import storable
from controlplane.drift.asking import REASON_MAX, settings_now
from controlplane.drift.audit_logs import changes_since
from controlplane.drift.differences import Difference, cut
from controlplane.drift.finding import (
    Found,
    found_in,
    section_revision,
    topic_count,
    tried_in,
    wanted_settings,
)
from controlplane.drift.models import DriftLook, DriftSighting
from controlplane.drift.selectors import topics_sharing_racks
from controlplane.drift.who import CLOCKS_MAY_DIFFER, Tried, Window, kinds_about, who_of
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.patience import deadline
from controlplane.observed.drift_sentences import UNREAD_NAMES
from controlplane.observed.sightings import UNKNOWN
from controlplane.operations.models import Operation
from controlplane.operations.queues import in_turns
from controlplane.operations.states import CANCELLED, FAILED

LEASE: Final = timedelta(seconds=120)
LOOK_S: Final = 30.0
"""All answers that a look asks for: far less than its lease, which nobody renews."""
EVERY: Final = timedelta(seconds=30)
"""From one look to the next; a cluster that did not answer is looked at again later."""
EVERY_SILENT: Final = timedelta(minutes=2)
LOOKS_A_ROUND: Final = 20
SIGHTINGS_MAX: Final = 2_000
"""Of one cluster; differences beyond it have no row, and so no window and no author."""
TOPICS_EACH_TIME: Final = 1_000
"""Of a cluster with more, all are looked through for racks each `RACKS_EVERY` at most."""
RACKS_EVERY: Final = timedelta(minutes=5)
TRIED_MAX: Final = 50
ASKS_MAX: Final = 5
"""How often audit logs are asked about one difference, while some of them could not be read."""


def due(send: Callable[[str], None], now: datetime | None = None) -> int:
    """Ask for a look at every cluster that is due, tenants in turns, at most `LOOKS_A_ROUND`; how
    many.
    """
    now = now or timezone.now()
    for model in (DriftLook, DriftSighting):
        model.objects.filter(cluster__deleted_at__isnull=False).delete()  # nobody reaches them
    serving = Cluster.objects.filter(deleted_at=None, phase=RUNNING)
    fresh = serving.exclude(pk__in=DriftLook.objects.values("pk")).values_list("pk", flat=True)
    rows = [DriftLook(cluster_id=each, due_at=now) for each in fresh]
    DriftLook.objects.bulk_create(rows, ignore_conflicts=True)
    asked = DriftLook.objects.filter(leases.free(), due_at__lte=now, cluster__in=serving)
    rows_due = asked.order_by("due_at").values_list("cluster__tenant_id", "pk")
    ids = in_turns(rows_due)[:LOOKS_A_ROUND]
    for each in ids:
        send(each)
    return len(ids)


def tenant_of_due(cluster_id: str) -> str | None:
    """Whose cluster it is; None: it is gone, was looked at meanwhile, or somebody is at it."""
    rows = DriftLook.objects.filter(leases.free(), pk=cluster_id, due_at__lte=timezone.now())
    found = rows.values_list("cluster__tenant_id", flat=True).first()
    return None if found is None else str(found)


def look(cluster_id: str) -> bool:
    """One look at one cluster; False when another process is at it, or it is gone."""
    rows = DriftLook.objects.filter(pk=cluster_id)
    token = leases.claim(rows, LEASE)
    if token is None:
        return False
    again = EVERY_SILENT
    try:
        row = rows.select_related("cluster__tenant").get()
        if row.cluster.deleted_at is None and row.cluster.phase == RUNNING:
            with deadline(LOOK_S):
                again = EVERY if _read_settings(row) else EVERY_SILENT
                keep(row)
    finally:
        leases.release(rows, token, due_at=timezone.now() + again)
    return True


def _read_settings(row: DriftLook) -> bool:
    """What brokers go by; whether they said it. What is not said stays as it was, with why.

    Brokers may be a tenant's own: they say what PostgreSQL does not keep.
    """
    wanted = wanted_settings(row.cluster)
    read_at = timezone.now()
    if not wanted:
        row.settings, row.settings_at, row.settings_reason = {}, read_at, ""
        return _noted(row)
    try:
        found = settings_now(gateway_for(row.cluster), sorted(wanted))
    except GatewayError as error:
        row.settings_reason = storable(error.detail or error.code)[:REASON_MAX]
        _noted(row)
        return False
    row.settings = {
        broker: {key: _kept(said) for key, said in entries.items()}
        for broker, entries in found.settings.items()
    }
    row.settings_at, row.settings_reason = read_at, storable(found.reason)
    return _noted(row)


def _kept(said: list[Any] | None) -> list[Any] | None:
    if said is None:
        return None
    return [storable(each) if isinstance(each, str) else each for each in said]


def _noted(row: DriftLook) -> bool:
    DriftLook.objects.filter(pk=row.pk).update(
        settings=row.settings, settings_at=row.settings_at, settings_reason=row.settings_reason
    )
    return True


def keep(row: DriftLook) -> None:
    """Compare, and write what is new, what is otherwise, and what is mended."""
    reader = reader_of(row.cluster, EVERYTHING)
    revision = section_revision(reader)
    looks_at_all = _looks_at_all(row, revision)
    racks_in = None if looks_at_all else topics_sharing_racks(row.cluster_id)
    found = found_in(reader, row.cluster, row, racks_in)
    known = {each.mark: each for each in DriftSighting.objects.filter(cluster_id=row.cluster_id)}
    areas = {each.name: each.as_of for each in found.areas if each.as_of is not None}
    sought = _sought(row, found, known, areas)
    who = _authors(row.cluster, sought)
    with transaction.atomic():
        for each, window in sought:
            _write(row.cluster_id, each, window, who[each.mark], known.get(each.mark))
        seen = {each.mark for each in found.differences} | found.held
        mended = [one.pk for one in known.values() if one.mark not in seen and one.area in areas]
        DriftSighting.objects.filter(pk__in=mended).delete()
        DriftLook.objects.filter(pk=row.pk).update(
            areas={name: iso(at) for name, at in areas.items()},
            racks_of=revision if looks_at_all else row.racks_of,
            racks_at=timezone.now() if looks_at_all else row.racks_at,
        )


def _looks_at_all(row: DriftLook, revision: str) -> bool:
    """Whether every topic is looked through for racks: where anything is otherwise than then, of a
    cluster with many not each time.
    """
    if revision and revision == row.racks_of:
        return False
    is_due = row.racks_at is None or timezone.now() - row.racks_at >= RACKS_EVERY
    return is_due or topic_count(row.cluster_id) <= TOPICS_EACH_TIME


Sought = list[tuple[Difference, Window]]


def _sought(
    row: DriftLook,
    found: Found,
    known: Mapping[str, DriftSighting],
    areas: Mapping[str, datetime],
) -> Sought:
    """Those whose author is to be found: new ones, others than before, and where a log was not
    read.
    """
    before = {name: datetime.fromisoformat(text) for name, text in row.areas.items()}
    sought: Sought = []
    room = SIGHTINGS_MAX - len(known)
    for each in found.differences:
        seen_at, last = areas[each.area], before.get(each.area)
        old = known.get(each.mark)
        if old is None:
            if room <= 0:
                continue
            room -= 1
            equal_at = max(filter(None, (last, found.wanted_at.get(each.mark))), default=None)
            sought.append((each, Window(equal_at=_not_after(equal_at, seen_at), seen_at=seen_at)))
        elif cut(each.desired) != old.desired:
            equal_at = found.wanted_at.get(each.mark, old.equal_at)
            sought.append((each, Window(equal_at=_not_after(equal_at, seen_at), seen_at=seen_at)))
        elif cut(each.observed) != old.observed:
            since = last or old.changed_at
            sought.append((each, Window(equal_at=_not_after(since, seen_at), seen_at=seen_at)))
        elif old.who.get("unread") and old.asked < ASKS_MAX:
            sought.append((each, Window(equal_at=old.equal_at, seen_at=old.changed_at)))
    return sought


def _not_after(at: datetime | None, limit: datetime) -> datetime | None:
    return None if at is None else min(at, limit)


def _authors(cluster: Cluster, sought: Sought) -> dict[str, dict[str, Any]]:
    if not sought:
        return {}
    moments = [window.equal_at for _, window in sought]
    since = None if None in moments else min(filter(None, moments))
    changes, unread = changes_since(cluster, _ms_before(since))
    tried = _tried(cluster.pk, since, kinds_about(each for each, _ in sought))
    return {
        each.mark: who_of(each, window, tried=tried, changes=changes, unread=unread)
        for each, window in sought
    }


def _ms_before(since: datetime | None) -> int:
    return 0 if since is None else int((since - CLOCKS_MAY_DIFFER).timestamp() * 1_000)


def _tried(cluster_id: str, since: datetime | None, kinds: Collection[str]) -> list[Tried]:
    """Operations of these kinds that ended without having been verified, the newest."""
    rows = Operation.objects.filter(
        cluster_id=cluster_id,
        state__in=(FAILED, CANCELLED),
        kind__in=sorted(kinds),
        finished_at__isnull=False,
    )
    if since is not None:
        rows = rows.filter(finished_at__gte=since)
    return tried_in(rows.order_by("-finished_at")[:TRIED_MAX])


def _write(
    cluster_id: str,
    each: Difference,
    window: Window,
    who: dict[str, Any],
    old: DriftSighting | None,
) -> None:
    values = {"desired": cut(each.desired), "observed": cut(each.observed)}
    if old is None or values["desired"] != old.desired:
        DriftSighting.objects.update_or_create(
            cluster_id=cluster_id,
            mark=each.mark,
            defaults={
                **values,
                "area": each.area,
                "name": each.name[:500],
                "equal_at": window.equal_at,
                "seen_at": window.seen_at,
                "changed_at": window.seen_at,
                "who": who,
                "asked": 1,
            },
        )
        return
    is_other = values["observed"] != old.observed
    knows_more = who["by"] != UNKNOWN or is_other or old.who["by"] == UNKNOWN
    DriftSighting.objects.filter(pk=old.pk).update(
        **values,
        changed_at=window.seen_at if is_other else old.changed_at,
        who=who if knows_more else {**old.who, **{name: who[name] for name in UNREAD_NAMES}},
        asked=1 if is_other else old.asked + 1,
    )
