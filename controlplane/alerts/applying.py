"""Writes what became of one owner's alerts: rows, history and notifications in one transaction."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q

from controlplane.alerts import outbox
from controlplane.alerts.conditions.types import SUMMARY_MAX, Condition, Key, Unknown
from controlplane.alerts.folding import Folded, Held, Move, Seen, fold
from controlplane.alerts.host_rules import EVERY_BY_ID
from controlplane.alerts.models import SUBJECT_MAX, Alert, AlertTransition
from controlplane.alerts.rules import Reach, Severity
from controlplane.alerts.silencing import Mute, silence_of
from controlplane.alerts.states import (
    FIRING,
    NONE,
    OPEN_STATES,
    PENDING,
    RAISED_STATES,
    REFIRES_WITHIN,
    RESOLVED,
)

ROWS_A_STATEMENT = 500
ALIKE_MAX = 20
"""Ways to change that have a statement each; alerts that change otherwise go whole."""
REFRESH_EVERY = timedelta(seconds=30)
"""How often the words and numbers of an alert that does not move are written anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What was found out of one tenant, or of the operators' hosts.

    Attributes:
        tenant_id: null: the operators'.
        names: of the clusters that are watched, by id; alerts of others end.
    """

    tenant_id: str | None
    holds: Mapping[Key, Condition]
    unknown: Collection[Unknown]
    mutes: Collection[Mute]
    names: Mapping[str, str]
    now: datetime
    blind: frozenset[tuple[str, str]] = field(init=False)
    blind_at: frozenset[Key] = field(init=False)

    def __post_init__(self) -> None:
        every = ((each.rule, each.cluster_id) for each in self.unknown if each.subject is None)
        object.__setattr__(self, "blind", frozenset(every))
        some = (
            Key(each.rule, each.cluster_id, each.subject)
            for each in self.unknown
            if each.subject is not None
        )
        object.__setattr__(self, "blind_at", frozenset(some))

    def seen(self, key: Key) -> tuple[Seen, str]:
        """What was seen of an alert; with a reason when it ends at once."""
        is_of_a_cluster = key.cluster_id and EVERY_BY_ID[key.rule].reach is not Reach.OPERATION
        if is_of_a_cluster and key.cluster_id not in self.names:
            return Seen.CLEAR, "its cluster is not watched any more"
        if key in self.holds:
            return Seen.HOLDS, ""
        if (key.rule, key.cluster_id) in self.blind or key in self.blind_at:
            return Seen.UNKNOWN, ""
        return Seen.CLEAR, ""


def key_of(alert: Alert) -> Key:
    return Key(alert.rule, alert.cluster_id, alert.subject)


@dataclass(slots=True)
class _Writes:
    """What is to be written of a tenant, in a few statements however much it is.

    Attributes:
        changed: with the columns that changed, by name.
    """

    made: list[Alert] = field(default_factory=list)
    changed: list[tuple[Alert, dict[str, Any]]] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)
    transitions: list[AlertTransition] = field(default_factory=list)
    news: list[outbox.News] = field(default_factory=list)


def apply(found: Round) -> int:
    """Must run in a transaction that ends by holding on to the evaluator's row; how many moved."""
    rows = _rows(found.tenant_id, found.now)
    writes, moved = _Writes(), 0
    for key in sorted({*rows, *found.holds}):
        if key.rule in EVERY_BY_ID:
            moved += _one(rows.get(key), key, found, writes)
    Alert.objects.filter(pk__in=writes.withdrawn).delete()
    Alert.objects.bulk_create(writes.made, batch_size=ROWS_A_STATEMENT)
    write_changed(writes.changed)
    AlertTransition.objects.bulk_create(writes.transitions, batch_size=ROWS_A_STATEMENT)
    outbox.publish(writes.news)
    return moved


def write_changed(changed: Sequence[tuple[Alert, Mapping[str, Any]]]) -> None:
    """Alerts of a round mostly change alike: what they change to is sent once for all of those.

    What is listed of an alert is its own, and is sent by the columns that changed. The rows are
    locked, and each was moved by the table of moves.
    """
    alike: dict[tuple[tuple[str, Any], ...], list[Alert]] = {}
    own: dict[tuple[str, ...], list[Alert]] = {}
    for alert, changes in changed:
        listed = tuple(name for name in changes if isinstance(changes[name], list | dict))
        plain = tuple((name, changes[name]) for name in changes if name not in listed)
        if plain:
            alike.setdefault(plain, []).append(alert)
        if listed:
            own.setdefault(listed, []).append(alert)
    largest = sorted(alike.items(), key=lambda pair: -len(pair[1]))
    for plain, alerts in largest[:ALIKE_MAX]:
        for at in range(0, len(alerts), ROWS_A_STATEMENT):
            ids = [alert.pk for alert in alerts[at : at + ROWS_A_STATEMENT]]
            Alert.objects.filter(pk__in=ids).update(**dict(plain))
    if others := [alert for _, alerts in largest[ALIKE_MAX:] for alert in alerts]:
        Alert.objects.bulk_create(
            others,
            batch_size=ROWS_A_STATEMENT,
            update_conflicts=True,
            unique_fields=["id"],
            update_fields=_WRITTEN,
        )
    for listed, alerts in own.items():
        Alert.objects.bulk_update(alerts, listed, batch_size=ROWS_A_STATEMENT)


def owned_by(tenant_id: str | None) -> Q:
    """Null is the operators' own, and no wildcard."""
    return Q(tenant__isnull=True) if tenant_id is None else Q(tenant_id=tenant_id)


def _rows(tenant_id: str | None, now: datetime) -> dict[Key, Alert]:
    """Open ones, and those that would fire again; the newest of one key."""
    recent = Q(state=RESOLVED, resolved_at__gte=now - REFIRES_WITHIN)
    alerts = Alert.objects.select_for_update().filter(
        Q(state__in=OPEN_STATES) | recent, owned_by(tenant_id)
    )
    found: dict[Key, Alert] = {}
    for alert in alerts.order_by("pk"):
        key = key_of(alert)
        # An open one is the later one: a new row is made only where none would fire again.
        if key not in found or alert.state in OPEN_STATES:
            found[key] = alert
    return found


def _one(alert: Alert | None, key: Key, found: Round, writes: _Writes) -> bool:
    condition = found.holds.get(key)
    seen, why = found.seen(key)
    if alert is None and seen is not Seen.HOLDS:
        return False
    folded = fold(
        _held(alert),
        seen,
        EVERY_BY_ID[key.rule],
        found.now,
        severity=condition.severity if condition is not None else Severity.INFO,
        members=_news(condition),
        why=why,
    )
    if folded.held.state == NONE:
        if alert is not None:
            writes.withdrawn.append(alert.pk)
        return bool(folded.moves)
    is_new = alert is None
    if alert is None:
        alert = _new(key, found)
    before, refreshed_at = _kept(alert), alert.refreshed_at
    transitions = _write_moves(alert, folded.moves, found, is_new=is_new)
    _set(alert, folded, condition, seen, found)
    alert.silence_id = (
        silence_of(found.mutes, key, found.now) if alert.state in RAISED_STATES else ""
    )
    for transition in transitions:
        transition.severity, transition.silence_id = alert.severity, alert.silence_id
    if folded.is_worse and not transitions:
        transitions = [_noted(alert, found.now, f"it is {alert.severity} now")]
    last = transitions[-1] if transitions else None
    news = outbox.news_of(alert, last, found.now, is_worse=folded.is_worse)
    if news is not None:
        writes.news.append(news)
        transitions = transitions or [news.transition]
    writes.transitions += transitions
    if is_new:
        writes.made.append(alert)
    elif (after := _kept(alert)) != before:
        rows = zip(_COLUMNS, before, after, strict=True)
        changes = {name: now for name, then, now in rows if now != then}
        if alert.refreshed_at != refreshed_at:
            changes["refreshed_at"] = alert.refreshed_at
        writes.changed.append((alert, changes))
    return bool(folded.moves)


def _news(condition: Condition | None) -> tuple[str, ...]:
    """Of more than are listed nobody can say which are new."""
    if condition is None or condition.count > len(condition.members):
        return ()
    return condition.members


def _held(alert: Alert | None) -> Held:
    if alert is None:
        return Held()
    return Held(
        state=alert.state,
        severity=Severity(alert.severity),
        since=alert.since,
        clear_since=alert.clear_since,
        members=frozenset(alert.known_members),
    )


def _new(key: Key, found: Round) -> Alert:
    return Alert(
        tenant_id=found.tenant_id,
        cluster_id=key.cluster_id,
        cluster_name=found.names.get(key.cluster_id, ""),
        rule=key.rule,
        subject=key.subject[:SUBJECT_MAX],
        state=PENDING,
        started_at=found.now,
        refreshed_at=found.now - REFRESH_EVERY,
    )


def _write_moves(
    alert: Alert, moves: Iterable[Move], found: Round, *, is_new: bool
) -> list[AlertTransition]:
    made = []
    for move in moves:
        if not (is_new and move.after == PENDING):
            alert.move_to(move.after)
        if move.after == FIRING:
            alert.fired_at = alert.fired_at or found.now
            alert.times_fired += 1
            alert.acknowledged_at, alert.acknowledged_by = None, ""
        alert.resolved_at = found.now if move.after == RESOLVED else None
        made.append(
            AlertTransition(
                alert=alert, at=found.now, before=move.before, after=move.after, why=move.why
            )
        )
    return made


def _noted(alert: Alert, now: datetime, why: str) -> AlertTransition:
    return AlertTransition(
        alert=alert,
        at=now,
        before=alert.state,
        after=alert.state,
        severity=alert.severity,
        silence_id=alert.silence_id,
        why=why,
    )


def _set(
    alert: Alert, folded: Folded, condition: Condition | None, seen: Seen, found: Round
) -> None:
    held = folded.held
    is_due = found.now - alert.refreshed_at >= REFRESH_EVERY or alert.refreshed_at > found.now
    changes = bool(folded.moves) or folded.is_worse or str(held.severity) != alert.severity
    alert.severity = str(held.severity)
    alert.since, alert.clear_since = held.since, held.clear_since
    alert.known_members = sorted(held.members)
    alert.unknown_since = (alert.unknown_since or found.now) if seen is Seen.UNKNOWN else None
    # Of a resolved alert it stays to be read what it was about.
    if condition is None or held.state == RESOLVED or not (is_due or changes):
        return
    alert.refreshed_at = found.now
    alert.summary = condition.summary[:SUMMARY_MAX]
    alert.values = dict(condition.values)
    alert.members, alert.member_count = list(condition.members), condition.count
    alert.unit = condition.unit
    alert.brokers = sorted(condition.brokers)
    alert.consequences = [{"rule": row.rule, "count": row.count} for row in condition.consequences]
    alert.touches = [list(pair) for pair in condition.touches]


_COLUMNS = tuple(
    field.attname for field in Alert._meta.concrete_fields if field.attname != "refreshed_at"
)
_WRITTEN = [
    field.name for field in Alert._meta.concrete_fields if field.name not in {"id", "tenant"}
]


def _kept(alert: Alert) -> tuple[object, ...]:
    return tuple(getattr(alert, name) for name in _COLUMNS)
