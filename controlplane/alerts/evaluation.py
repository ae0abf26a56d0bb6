"""One round over all rules of all tenants and of the hosts; one process at a time does it."""

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from django.db import Error, transaction
from django.utils import timezone

from controlplane.alerts import applying, conditions, facts, facts_hosts, tracks
from controlplane.alerts.applying import Round
from controlplane.alerts.conditions import hosts as host_conditions
from controlplane.alerts.conditions.types import Condition, Key, Verdict
from controlplane.alerts.fact_types import TenantFacts
from controlplane.alerts.grouping import OF_BROKERS, bounded, grouped
from controlplane.alerts.models import Alert, Evaluator
from controlplane.alerts.overrides import Tuning
from controlplane.alerts.selectors import mutes_by_tenant, tunings_by_tenant
from controlplane.alerts.silencing import Mute
from controlplane.alerts.states import OPEN_STATES, RAISED_STATES, REFIRES_WITHIN, RESOLVED
from controlplane.common import leases
from controlplane.common.lease_keeper import HeldLease, LeaseLostError, keeper
from controlplane.common.metrics import SharedCounter

log = logging.getLogger(__name__)
LEASE = timedelta(seconds=5)
"""Renewed at each third: a killed process delays the next round by no more than that."""
ROW = 1
ROUNDS = SharedCounter(
    "penstock_alert_rounds",
    "Rounds over all alert rules: done, failed, or busy (another process was at it).",
    "outcome",
)


@dataclass(slots=True)
class Result:
    """Of one round; `failed_tenants` counts the operators too where theirs were not evaluated."""

    conditions: int = 0
    moved: int = 0
    failed_tenants: int = 0
    unknown: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class _Known:
    """What there is of an owner's alerts before the round."""

    raised: set[Key] = field(default_factory=set)
    lingering: dict[Key, frozenset[int]] = field(default_factory=dict)
    is_any: bool = False


def evaluate(now: datetime | None = None) -> Result | None:
    """One round; null when another process is at it.

    Killed anywhere, what is committed of a tenant is whole: its alerts, their history and their
    notifications are one transaction. The next round does the rest when the lease has run out.
    """
    Evaluator.objects.get_or_create(pk=ROW)
    rows = Evaluator.objects.filter(pk=ROW)
    lease = keeper().claim(rows, ROW, LEASE, started_at=timezone.now())
    if lease is None:
        ROUNDS.inc(of="busy")
        return None
    began_s = time.monotonic()
    try:
        result = _round(now or timezone.now(), lease)
    except LeaseLostError as lost:
        ROUNDS.inc(of="failed")
        log.warning("the round over the alerts ends early: %s", lost)
        leases.release(rows, lease.token)
        return None
    except Exception:
        ROUNDS.inc(of="failed")
        leases.release(rows, lease.token)
        raise
    finally:
        lease.drop()
    took_ms = round((time.monotonic() - began_s) * 1000)
    row = rows.get()
    leases.release(
        rows,
        lease.token,
        finished_at=timezone.now(),
        took_ms=took_ms,
        rounds=row.rounds + 1,
        failed_tenants=result.failed_tenants,
        conditions=result.conditions,
        unknown=dict(result.unknown),
    )
    ROUNDS.inc(of="done")
    return result


def _round(now: datetime, lease: HeldLease) -> Result:
    known, open_groups = _known(now)
    found = facts.read(now, open_groups)
    tunings, mutes = tunings_by_tenant(), mutes_by_tenant(now)
    result = Result()
    for tenant in found.tenants:
        own = known.get(tenant.id, _Known())
        judge = partial(judged, tenant, tunings.get(tenant.id, Tuning()), own, now)
        names = {cluster.id: cluster.name for cluster in tenant.clusters}
        _owner(_Owner(tenant.id, own, mutes.get(tenant.id, ()), names), judge, now, lease, result)
    for tenant_id in known.keys() - {None, *(tenant.id for tenant in found.tenants)}:
        # A closed tenant has nothing that could be wrong, and may still have alerts.
        nothing = Round(tenant_id=tenant_id, holds={}, unknown=(), mutes=(), names={}, now=now)
        result.moved += _apply(nothing, lease)
    operators = _Owner(None, known.get(None, _Known()))
    _owner(operators, partial(_judged_hosts, operators.known, now), now, lease, result)
    lease.check()
    tracks.keep(found.tenants, found.starts, now)
    return result


@dataclass(frozen=True, slots=True)
class _Owner:
    """Whose alerts are evaluated: a tenant's, or the operators' (null)."""

    tenant_id: str | None
    known: _Known
    mutes: Collection[Mute] = ()
    names: Mapping[str, str] = field(default_factory=dict)


def _owner(
    owner: _Owner,
    judge: Callable[[], tuple[list[Condition], Verdict]],
    now: datetime,
    lease: HeldLease,
    result: Result,
) -> None:
    try:
        holds, verdict = judge()
        result.conditions += len(holds)
        result.unknown.update(each.rule for each in verdict.unknown)
        if not holds and not owner.known.is_any:
            return
        found = Round(
            tenant_id=owner.tenant_id,
            holds={each.key: each for each in holds},
            unknown=verdict.unknown,
            mutes=owner.mutes,
            names=owner.names,
            now=now,
        )
        result.moved += _apply(found, lease)
    except (Error, LeaseLostError):
        raise
    except Exception:
        # One tenant's oddity must not leave all others without alerts.
        log.exception("the alerts of %s were not evaluated", owner.tenant_id or "the operators")
        result.failed_tenants += 1


def _judged_hosts(known: _Known, now: datetime) -> tuple[list[Condition], Verdict]:
    """As `judged`, of the operators' hosts, by the rules' defaults."""
    verdict = host_conditions.judge(facts_hosts.read(), Tuning(), now)
    return bounded(verdict.holds, known.raised), verdict


def judged(
    tenant: TenantFacts, tuning: Tuning, known: "_Known", now: datetime
) -> tuple[list[Condition], Verdict]:
    """What holds of a tenant, by cause, and all that was said. Pure."""
    verdict = conditions.judge(tenant, tuning, now)
    holds = grouped(
        verdict.holds,
        raised=known.raised,
        lingering=known.lingering,
        managed=[cluster.id for cluster in tenant.clusters if cluster.is_managed],
    )
    return holds, verdict


def _apply(found: Round, lease: HeldLease) -> int:
    with transaction.atomic():
        moved = applying.apply(found)
        _hold_on(lease)
    return moved


def _hold_on(lease: HeldLease) -> None:
    """The last statement of a tenant's transaction: the row is locked until it is committed.

    At its end, as the thread that renews this process's leases waits for such a lock.
    """
    if not leases.renew(Evaluator.objects.filter(pk=ROW), [lease.token], LEASE):
        raise LeaseLostError("another process evaluates the alerts")


def _known(now: datetime) -> tuple[dict[str | None, _Known], dict[str, Collection[str]]]:
    """By owner what there is, and by cluster the groups that have an open alert."""
    found: defaultdict[str | None, _Known] = defaultdict(_Known)
    groups: defaultdict[str, set[str]] = defaultdict(set)
    recent = Alert.objects.filter(state=RESOLVED, resolved_at__gte=now - REFIRES_WITHIN)
    rows = Alert.objects.filter(state__in=OPEN_STATES) | recent
    columns = ("tenant_id", "rule", "cluster_id", "subject", "state", "brokers", "touches")
    for tenant_id, rule, cluster_id, subject, state, brokers, touches in rows.values_list(*columns):
        known, key = found[tenant_id], Key(rule, cluster_id, subject)
        known.is_any = True
        if state in OPEN_STATES:
            groups[cluster_id].update(_groups(subject, touches))
        if state in RAISED_STATES:
            known.raised.add(key)
            if rule in OF_BROKERS:
                known.lingering[key] = frozenset(brokers)
    return dict(found), dict(groups)


def _groups(subject: str, touches: Iterable[tuple[str, str]]) -> set[str]:
    found = {name for area, name in touches if area == "group"}
    if subject.startswith("group/"):
        found.add(subject.removeprefix("group/"))
    return found
