"""Rounds of self-healing: a cluster's policy, one look, one decision, which is kept with why."""

import logging
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from controlplane.audit.services import SYSTEM, About, Actor, audit_record
from controlplane.clusters.models import MANAGED, RUNNING, Cluster
from controlplane.clusters.replacing_now import replace_now
from controlplane.clusters.replacing_rules import REBUILD
from controlplane.common import leases
from controlplane.common.apart import apart
from controlplane.common.problems import Conflict, NotFound, Problem
from controlplane.common.said import kept
from controlplane.common.words import storable
from controlplane.healing.looking import facts_of, replacement_of, silent_hosts
from controlplane.healing.models import HealingCase, HealingPolicy
from controlplane.healing.rules import (
    PROPOSE,
    REPLACE,
    WAIT,
    Decision,
    Facts,
    Policy,
    decide,
)
from controlplane.healing.sentences import TEXT_MAX, as_it_came, decided, refused
from controlplane.healing.states import (
    DISMISSED,
    FAILED,
    HEALED,
    OFF,
    OPEN,
    PROPOSED,
    REPLACING,
    WAITING,
    WITHDRAWN,
)
from controlplane.healing.telling import tell
from controlplane.healing.windows import window_of
from controlplane.operations.models import Operation
from controlplane.operations.states import ACTIVE_STATES, SUCCEEDED

log = logging.getLogger(__name__)
LEASE = timedelta(seconds=120)
ODD = Decision(act=WAIT, code="look-failed", parts=(decided("look-failed"),))
_STATE_OF = {WAIT: WAITING, PROPOSE: PROPOSED, REPLACE: WAITING}


def policy_of(row: HealingPolicy) -> Policy:
    return Policy(
        mode=row.mode,
        replace_after_s=row.replace_after_s,
        per_day_max=row.per_day_max,
        time_zone=row.time_zone,
        windows=tuple(window_of(each) for each in row.windows),
    )


def heal_round(now: datetime | None = None) -> int:
    """One look at every cluster with a policy; how many replacements it began."""
    now = now or timezone.now()
    rows = HealingPolicy.objects.exclude(mode=OFF).filter(
        cluster__deleted_at=None, cluster__kind=MANAGED, cluster__phase=RUNNING
    )
    ids = list(rows.order_by("pk").values_list("pk", flat=True))
    follow_cases()
    if not ids:
        return 0
    silent = silent_hosts(now)
    return sum(
        apart(f"healing of {each}", partial(_heal, each, silent, now), otherwise=False)
        for each in ids
    )


def _heal(cluster_id: str, silent: dict[str, datetime] | None, now: datetime) -> bool:
    rows = HealingPolicy.objects.filter(pk=cluster_id)
    token = leases.claim(rows, LEASE)
    if token is None:
        return False
    found: dict[str, Any] = _decided(ODD, now)
    try:
        row = rows.select_related("cluster__tenant").get()
        facts = facts_of(row.cluster, silent, now)
        decision = decide(policy_of(row), facts)
        begun = carry_out(row.cluster, decision, facts)
        found = _decided(begun, now)
        return begun.act == REPLACE
    finally:
        leases.release(rows, token, **found)


def _decided(decision: Decision, now: datetime) -> dict[str, Any]:
    text, parts = kept(decision.parts, TEXT_MAX)
    return {
        "decided_code": decision.code[:40],
        "decided_text": text,
        "decided_parts": parts,
        "decided_at": now,
    }


def carry_out(cluster: Cluster, decision: Decision, facts: Facts) -> Decision:
    """Keep the case as it is now, and begin what was decided; the decision as it came out."""
    case = HealingCase.objects.filter(cluster=cluster, state__in=OPEN).first()
    if case is not None and case.state == REPLACING:
        return decision
    if decision.act not in _STATE_OF or decision.broker is None:
        if case is not None:
            move(case, WITHDRAWN, decision)
        return decision
    if case is not None and case.broker_id != decision.broker:
        move(case, WITHDRAWN, decision)
        case = None
    case = case or _opened(cluster, decision, facts)
    if case is None:  # another process was quicker
        return decision
    if decision.act != REPLACE:
        move(case, _STATE_OF[decision.act], decision)
        return decision
    return _begin(cluster, case, decision)


def _begin(cluster: Cluster, case: HealingCase, decision: Decision) -> Decision:
    try:
        operation = replace_now(cluster, case.broker_id, way=REBUILD, reason=decision.text)
    except Problem as problem:
        parts = (*decision.parts, refused(problem.detail))
        waits = Decision(act=WAIT, code=problem.code, parts=parts, broker=case.broker_id)
        move(case, WAITING, waits)
        return waits
    move(case, REPLACING, decision, operation_id=operation.id, started_at=timezone.now())
    return decision


def _opened(cluster: Cluster, decision: Decision, facts: Facts) -> HealingCase | None:
    about = next(one for one in facts.brokers if one.id == decision.broker)
    try:
        with transaction.atomic():
            return HealingCase.objects.create(
                cluster=cluster,
                broker_id=about.id,
                host_id=about.host_id,
                silent_since=about.silent_since,
                state=WAITING,
                **_reason(decision),
            )
    except IntegrityError:
        return None


def _reason(decision: Decision) -> dict[str, Any]:
    """As a case keeps it."""
    text, parts = kept(decision.parts, TEXT_MAX)
    return {"code": decision.code[:40], "text": text, "parts": parts}


@transaction.atomic
def move(
    case: HealingCase, state: str, decision: Decision, *, actor: Actor = SYSTEM, **also: Any
) -> None:
    """To another state, audited; in the same one only the reason changes."""
    before = case.state
    changed = {**_reason(decision), **also}
    if state != before:
        case.move_to(state)
        changed |= {"state": state, "moved_at": timezone.now()}
    moved = HealingCase.objects.filter(pk=case.pk, state=before).update(**changed)
    if moved and state != before:
        for name, value in changed.items():
            setattr(case, name, value)
        tell(case, before)
        audit_record(
            tenant_id=case.cluster.tenant_id,
            actor=actor,
            action=f"healing.{state}",
            resource=f"broker/{case.broker_id}",
            reason=case.text[:500],
            data={"operation_id": also["operation_id"]} if "operation_id" in also else None,
            about=About(cluster_id=case.cluster_id, cluster_name=case.cluster.name),
        )


def follow_cases() -> None:
    """Proposals that somebody has confirmed, and replacements that have ended."""
    rows = HealingCase.objects.filter(state__in=(PROPOSED, REPLACING)).select_related("cluster")
    for case in rows:
        follow = _confirmed if case.state == PROPOSED else _ended
        apart(f"the healing case {case.pk}", partial(follow, case), otherwise=None)


def _confirmed(case: HealingCase) -> None:
    begun = replacement_of(case.cluster, case.broker_id)
    if begun is None:
        return
    parts = (decided("confirmed", by=begun.actor),)
    said = Decision(act=REPLACE, code="confirmed", parts=parts, broker=case.broker_id)
    move(
        case,
        REPLACING,
        said,
        operation_id=begun.id,
        by=begun.actor,
        started_at=timezone.now(),
    )


def _ended(case: HealingCase) -> None:
    found = Operation.objects.filter(pk=case.operation_id).first()
    if found is not None and found.state in ACTIVE_STATES:
        return
    if found is not None and found.state == SUCCEEDED:
        parts = (decided("healed", broker=str(case.broker_id)),)
        move(case, HEALED, Decision(act=REPLACE, code="healed", parts=parts))
        return
    error = (found.error or {}) if found is not None else {}
    detail = error.get("detail")
    parts = (as_it_came(str(detail)) if detail else decided("not-succeeded"),)
    move(case, FAILED, Decision(act=WAIT, code=str(error.get("code", "failed")), parts=parts))


@transaction.atomic
def dismiss(*, cluster: Cluster, case_id: str, actor: Actor) -> HealingCase:
    """A person says no: while this silence lasts the broker stays where it is.

    Raises:
        NotFound: the cluster has no such case.
        Conflict: it is no open proposal.
    """
    case = (
        HealingCase.objects.select_for_update(of=("self",))
        .select_related("cluster")
        .filter(cluster=cluster, pk=case_id)
        .first()
    )
    if case is None:
        raise NotFound("Case not found.")
    if case.state != PROPOSED:
        raise Conflict(f"The case is {case.state}, not proposed.", code="not-proposed")
    parts = (decided("said-no", by=storable(actor.name)),)
    said = Decision(act=WAIT, code="dismissed", parts=parts)
    move(case, DISMISSED, said, actor=actor, by=actor.name)
    case.refresh_from_db()
    return case


@transaction.atomic
def policy_set(*, cluster: Cluster, actor: Actor, **values: Any) -> HealingPolicy:
    """Replace the policy; the audit has both.

    Raises Conflict: this service does not run the cluster's brokers.
    """
    if cluster.kind != MANAGED:
        raise Conflict(
            f"The brokers of {cluster.name} are not run by this service.",
            code="cluster-not-managed",
        )
    row, _ = HealingPolicy.objects.get_or_create(cluster=cluster)
    before = {name: getattr(row, name) for name in values}
    HealingPolicy.objects.filter(pk=row.pk).update(
        **values, changed_at=timezone.now(), changed_by=actor.name
    )
    audit_record(
        tenant_id=cluster.tenant_id,
        actor=actor,
        action="healing.policy",
        resource=f"cluster/{cluster.name}",
        data={"before": before, "after": values},
        about=About(cluster_id=cluster.id, cluster_name=cluster.name),
    )
    row.refresh_from_db()
    return row
