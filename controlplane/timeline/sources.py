"""The lists that a timeline is put together from, each asked for what follows a place in it.

What is kept elsewhere for as long is read there, through the selectors of its app, and not copied.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Left
from django.db.models.lookups import Exact

from controlplane.alerts import selectors as alerts
from controlplane.alerts.models import AlertTransition
from controlplane.alerts.rules import BY_ID, Severity
from controlplane.alerts.states import FIRING, RESOLVED
from controlplane.common.grants import Area, Grant, Match, Over, Pattern, Scope, Verb
from controlplane.common.times import iso
from controlplane.operations import selectors as operations
from controlplane.operations.models import Operation
from controlplane.operations.states import REVERTED, SUCCEEDED
from controlplane.tenants.models import Tenant
from controlplane.timeline import rules
from controlplane.timeline.models import TimelineEvent
from controlplane.timeline.rules import CLUSTER_SUBJECT, Place

Render = Callable[[Any], dict[str, Any] | None]
Names = Mapping[str, str]
NOTHING = Q(pk__in=[])


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What of the timeline is wanted; empty fields ask for all of it."""

    from_at: datetime
    to_at: datetime | None = None
    cluster_id: str = ""
    kinds: Collection[str] = ()
    subjects: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """One list of events.

    Attributes:
        letter: orders the lists at one moment.
        rows: those that are wanted, in no order.
        at: the field of their moment.
        render: null for what the reader does not see after all.
    """

    letter: str
    rows: QuerySet[Any]
    at: str
    render: Render
    width: int = 0

    def following(self, place: Place | None, limit: int) -> list[tuple[Place, Any]]:
        rows = self.rows
        if place is not None:
            rows = rows.filter(self._behind(place))
        # SQLite's own clock writes moments with three digits and compares texts, so that a row may
        # look earlier than itself: one more is read, and what is not behind the place left out.
        rows = rows.order_by(f"-{self.at}", "-pk")[: limit + 1]
        found = [(self._place(row), row) for row in rows]
        return [pair for pair in found if place is None or pair[0] < place][:limit]

    def _behind(self, place: Place) -> Q:
        earlier = Q(**{f"{self.at}__lt": place.at})
        if self.letter == place.source:
            return earlier | Q(**{self.at: place.at, "pk__lt": place.id})
        return earlier | Q(**{self.at: place.at}) if self.letter < place.source else earlier

    def _place(self, row: Any) -> Place:
        # Numbers stand in their order as text, too.
        return Place(getattr(row, self.at), self.letter, str(row.pk).zfill(self.width))


def sources(tenant: Tenant, scope: Scope, names: Names, asked: Asked) -> list[Source]:
    """Those that hold any of the kinds asked for; `names` are of the tenant's clusters by id."""
    wanted = frozenset(asked.kinds or rules.KINDS)
    found = [_stored(tenant, scope, names, asked, wanted)]
    if wanted & {*rules.OF_ALERTS}:
        found.append(_alerts(tenant, scope, asked, wanted))
    if rules.OPERATION_BEGAN in wanted:
        found.append(_begun(tenant, scope, names, asked))
    if wanted & {rules.OPERATION_ENDED, rules.OPERATION_UNDONE}:
        found.append(_ended(tenant, scope, names, asked, wanted))
    return found


def _between(rows: QuerySet[Any], at: str, asked: Asked) -> QuerySet[Any]:
    rows = rows.filter(**{f"{at}__gte": asked.from_at})
    return rows.filter(**{f"{at}__lt": asked.to_at}) if asked.to_at is not None else rows


def _about(field: str, subjects: Collection[str], whole: Q) -> Q:
    """Rows about any of `subjects`; `whole` are those about the cluster itself."""
    if not subjects:
        return Q()
    found = Q(**{f"{field}__in": [each for each in subjects if each != CLUSTER_SUBJECT]})
    return found | whole if CLUSTER_SUBJECT in subjects else found


# -- what is stored here ----------------------------------------------------------------------
def stored(tenant: Tenant, scope: Scope, names: Names) -> QuerySet[TimelineEvent]:
    """The rows that the scope covers."""
    return TimelineEvent.objects.filter(seen_q(scope, names), tenant=tenant)


def _stored(
    tenant: Tenant, scope: Scope, names: Names, asked: Asked, wanted: frozenset[str]
) -> Source:
    rows = _between(stored(tenant, scope, names), "at", asked).filter(kind__in=wanted)
    if asked.cluster_id:
        # What is deployed for all of the tenant is deployed for this cluster, too.
        of_all = Q(cluster_id="", kind=rules.DEPLOYMENT)
        rows = rows.filter(Q(cluster_id=asked.cluster_id) | of_all)
    whole = Q(subject="") | Q(subject__startswith="broker/")
    rows = rows.filter(_about("subject", asked.subjects, whole))
    return Source("e", rows, "at", lambda row: event_dict(row, scope, names))


def event_dict(row: TimelineEvent, scope: Scope, names: Names) -> dict[str, Any]:
    """How many more there were counts what a reader of a part does not see."""
    cluster = names.get(row.cluster_id, "")
    count = row.count if not row.more or scope.sees(Area.CLUSTER, cluster) else None
    if row.more:
        text = rules.more_text(row.kind, count)
    elif row.kind == rules.DEPLOYMENT:
        text = row.text
    else:
        text = rules.text_of(row.kind, row.subject, row.before, row.after, row.count)
    return _shape(
        id=row.id,
        at=iso(row.at),
        not_before=iso(row.not_before),
        kind=row.kind,
        tone=rules.tone_of(row.kind),
        cluster_id=row.cluster_id or None,
        cluster=cluster or None,
        subject=row.subject,
        text=text,
        before=row.before,
        after=row.after,
        count=count,
        more=row.more,
        by=row.by or None,
        removable=row.kind == rules.DEPLOYMENT
        and scope.allows(Verb.WRITE, Area(row.area), cluster, row.name),
    )


def _shape(**values: Any) -> dict[str, Any]:
    return {
        "not_before": None,
        "before": {},
        "after": {},
        "count": 1,
        "more": False,
        "by": None,
        "removable": False,
        "operation_id": None,
        "alert_id": None,
        "runbook": None,
        **values,
    }


def seen_q(scope: Scope, names: Names) -> Q:
    """Rows whose area and name the scope covers, by the database.

    Names are compared by code points, as `Pattern` does it: LIKE folds case on SQLite.
    """
    if scope.sees_all:
        return Q()
    found = Q()
    for layer in scope.layers:
        part = NOTHING
        for grant in layer:
            part |= _granted(grant, names)
        found &= part
    return found if scope.layers else NOTHING


def _granted(grant: Grant, names: Names) -> Q:
    if Verb.READ not in grant.verbs:
        return NOTHING
    if grant.over is Over.CLUSTER and grant.clusters.match is Match.ANY:
        return Q()
    covered = [id_ for id_, name in names.items() if grant.clusters.covers(name)]
    on_them = Q(cluster_id__in=covered)
    if grant.over is Over.CLUSTER:
        return on_them
    own = Q(area=grant.over.value) & _matching(grant.names)
    return on_them & (Q(area=str(Area.OUTLINE)) | own)


def _matching(pattern: Pattern) -> Q:
    if pattern.match is Match.ANY:
        return Q()
    if not pattern.name:
        return NOTHING
    if pattern.match is Match.LITERAL:
        return Q(name=pattern.name)
    return Q(Exact(Left(F("name"), len(pattern.name)), Value(pattern.name)))


# -- operations -------------------------------------------------------------------------------
def _operations(
    tenant: Tenant, scope: Scope, asked: Asked, at: str
) -> tuple[QuerySet[Operation], Callable[[Operation], bool]]:
    rows, is_seen = operations.moments(tenant, scope)
    rows = _between(rows, at, asked)
    if asked.cluster_id:
        rows = rows.filter(cluster_id=asked.cluster_id)
    whole = Q(resource__startswith="cluster/") | Q(resource__startswith="broker/")
    return rows.filter(_about("resource", asked.subjects, whole)), is_seen


def _begun(tenant: Tenant, scope: Scope, names: Names, asked: Asked) -> Source:
    rows, is_seen = _operations(tenant, scope, asked, "started_at")

    def render(row: Operation) -> dict[str, Any] | None:
        if not is_seen(row):
            return None
        return _operation(row, names, kind=rules.OPERATION_BEGAN, at=row.started_at)

    return Source("c", rows, "started_at", render)


def _ended(
    tenant: Tenant, scope: Scope, names: Names, asked: Asked, wanted: frozenset[str]
) -> Source:
    rows, is_seen = _operations(tenant, scope, asked, "finished_at")
    undone = Q(reverts__isnull=False, state__in=(SUCCEEDED, REVERTED))
    if rules.OPERATION_UNDONE not in wanted:
        rows = rows.exclude(undone)
    if rules.OPERATION_ENDED not in wanted:
        rows = rows.filter(undone)

    def render(row: Operation) -> dict[str, Any] | None:
        if not is_seen(row):
            return None
        is_undo = row.reverts_id is not None and row.state in {SUCCEEDED, REVERTED}
        kind = rules.OPERATION_UNDONE if is_undo else rules.OPERATION_ENDED
        return _operation(row, names, kind=kind, at=row.finished_at)

    return Source("d", rows, "finished_at", render)


def _operation(row: Operation, names: Names, *, kind: str, at: datetime | None) -> dict[str, Any]:
    # Of one that was undone later: it had succeeded.
    state = SUCCEEDED if row.state == REVERTED else row.state
    is_over = kind != rules.OPERATION_BEGAN
    return _shape(
        id=f"{row.id}:{'ended' if is_over else 'began'}",
        at=iso(at),
        kind=kind,
        tone=rules.operation_tone(kind, state),
        cluster_id=row.cluster_id,
        cluster=names.get(row.cluster_id or "") or None,
        subject=row.resource,
        text=rules.operation_text(kind, state, row.plan.impact.get("summary", "") or row.kind),
        after={"state": state} if is_over else {},
        by=row.actor,
        operation_id=row.id,
    )


# -- alerts -----------------------------------------------------------------------------------
def _alerts(tenant: Tenant, scope: Scope, asked: Asked, wanted: frozenset[str]) -> Source:
    states = {rules.ALERT_FIRED: FIRING, rules.ALERT_RESOLVED: RESOLVED}
    rows = alerts.moves(tenant, [state for kind, state in states.items() if kind in wanted])
    rows = _between(rows, "at", asked)
    if asked.cluster_id:
        rows = rows.filter(alert__cluster_id=asked.cluster_id)
    whole = Q(alert__subject="") | Q(alert__subject__startswith="broker/")
    rows = rows.filter(_about("alert__subject", asked.subjects, whole))

    def render(row: AlertTransition) -> dict[str, Any] | None:
        return _alert(row) if alerts.is_allowed(scope, row.alert, Verb.READ) else None

    return Source("b", rows, "at", render, width=20)


def _alert(row: AlertTransition) -> dict[str, Any]:
    alert, rule = row.alert, BY_ID.get(row.alert.rule)
    has_fired = row.after == FIRING
    title = rule.title if rule is not None else alert.rule
    is_critical = row.severity == Severity.CRITICAL
    return _shape(
        id=f"{alert.id}:{row.pk}",
        at=iso(row.at),
        kind=rules.ALERT_FIRED if has_fired else rules.ALERT_RESOLVED,
        tone=(rules.BAD if is_critical else rules.WARN) if has_fired else rules.GOOD,
        cluster_id=alert.cluster_id or None,
        cluster=alert.cluster_name or None,
        subject=alert.subject,
        text=rules.alert_text(title, alert.summary, has_fired=has_fired),
        after={"severity": row.severity},
        by=row.by or None,
        alert_id=alert.id,
        runbook=rule.runbook if rule is not None else None,
    )
