"""quota.set: bounds of a user, a client id, or both, on every broker."""

from collections.abc import Iterable, Mapping
from typing import Any

from controlplane.access.decisions.quotas import (
    QUOTA_KEYS,
    UNBOUNDED,
    Whom,
    after_change,
    change_warnings,
    service_warning,
    whom,
)
from controlplane.access.inputs import QuotaSetInputs
from controlplane.access.operations_base import check_not_service_user
from controlplane.access.selectors import SERVICE_USERS
from controlplane.access.serializers import QuotaDiffSerializer
from controlplane.clusters.models import MANAGED
from controlplane.clusters.operations_base import ClusterOperationKind, Touched, cluster_of
from controlplane.common.problems import Conflict
from controlplane.gateway.port import BrokerView
from controlplane.gateway.types import QUOTA_USER
from controlplane.operations.details import detail_of
from controlplane.operations.locks import Resource
from controlplane.operations.models import Plan
from controlplane.operations.operations import (
    Done,
    Phase,
    PlanContext,
    PlanDraft,
    StepContext,
    StepSpec,
    Wait,
)
from controlplane.operations.read_back import read_back, read_back_everywhere, verified_by
from controlplane.operations.summaries import summary_of
from controlplane.operations.warnings import warning_of

UNCHANGED = detail_of("adopted/unchanged")


class QuotaSet(ClusterOperationKind):
    """Set, change or take away what one entity may use of each broker."""

    name = "quota.set"
    restores = "the quotas of before are set again"
    inputs = QuotaSetInputs
    diff_shape = QuotaDiffSerializer

    def plan(self, context: PlanContext, inputs: dict[str, Any]) -> PlanDraft:
        entity = whom(inputs)
        if inputs.get("user"):
            check_not_service_user(inputs["user"])
        before = quotas_of(self.gateway(context), entity)
        after = after_change(before, inputs["quotas"])
        if inputs.get("adopt"):
            return _adopted(entity, before, inputs["quotas"])
        if after == before:
            raise Conflict(f"The quotas of {entity.words} are so already.", code="nothing-to-do")
        warnings = change_warnings(before, after)
        if after and entity.hits_service:
            warnings.append(service_warning(is_managed=cluster_of(context).kind == MANAGED))
        return PlanDraft(
            resource=f"quota/{entity.words}",
            diff={"before": _shown(before), "after": _shown(after)},
            summary=summary_of(f"quota.set/{entity.code}", **entity.named),
            preconditions={"before": before},
            warnings=warnings,
        )

    def touched(self, plan: Plan) -> Touched:  # noqa: ARG002 - a hook
        return {}

    def lock_names(self, resource: Resource, plan: Plan) -> Iterable[str]:
        if resource is Resource.USER:
            entity = whom(plan.inputs)
            # Whoever changes a user waits for its quotas; no user's name holds a space.
            only_user = [kind for kind, _ in entity.parts] == ["user"] and plan.inputs["user"]
            return [plan.inputs["user"] if only_user else entity.words]
        return super().lock_names(resource, plan)

    def set_quotas(self, context: StepContext) -> Done:
        if context.inputs.get("adopt"):
            return Done(detail=UNCHANGED)
        return self._make(context, "after", "before")

    def verify(self, context: StepContext) -> Done | Wait:
        entity, wanted = whom(context.inputs), _kept(context.diff["after"])
        keys = context.inputs["quotas"] if context.inputs.get("adopt") else QUOTA_KEYS

        def differing(view: BrokerView, _broker: int) -> str | None:
            found = quotas_of(view, entity)
            alike = all(found.get(key) == wanted.get(key) for key in keys)
            return None if alike else detail_of("quotas/differ")

        return read_back_everywhere(context, self.gateway(context), differing)

    def put_back(self, context: StepContext) -> Done | Wait:
        entity, before = whom(context.inputs), _kept(context.diff["before"])
        if quotas_of(self.gateway(context), entity) == before:
            return Done(detail=detail_of("back/as-before"))
        self._make(context, "before", "after")
        return read_back(detail_of("quotas/not-back"))

    def _make(self, context: StepContext, wanted: str, other: str) -> Done:
        """Only the keys in which the two differ: what somebody else set beside them stays."""
        to, away = _kept(context.diff[wanted]), _kept(context.diff[other])
        changes = {key: to.get(key) for key in QUOTA_KEYS if to.get(key) != away.get(key)}
        entity, gateway = whom(context.inputs), self.gateway(context)
        if entity.hits_service and cluster_of(context).kind == MANAGED:
            # Before it holds: a service that waits for its turn cannot take it back either.
            own = {key: UNBOUNDED[key] for key, value in changes.items() if value is not None}
            for user in sorted(SERVICE_USERS) if own else ():
                gateway.alter_quotas(((QUOTA_USER, user),), own)
        gateway.alter_quotas(entity.parts, changes)
        return Done()

    def undo(self, plan: Plan) -> tuple[str, dict[str, Any]] | None:
        if plan.inputs.get("adopt"):
            return None
        entity = {name: plan.inputs[name] for name in ("user", "client_id") if name in plan.inputs}
        before, after = plan.diff["before"], plan.diff["after"]
        changed = {key: before[key] for key in QUOTA_KEYS if before[key] != after[key]}
        return self.name, {**entity, "quotas": changed}

    steps = (
        StepSpec(name="set", title="Set the quotas", run=set_quotas, restored_by=("put-back",)),
        verified_by(verify),
        StepSpec(
            name="put-back",
            title="Set the quotas of before again",
            run=put_back,
            phase=Phase.RESTORE,
        ),
    )


def _adopted(
    entity: Whom, before: Mapping[str, float], given: Mapping[str, float | None]
) -> PlanDraft:
    """The plan that takes over quotas as they are. Raises Conflict: some are others."""
    other = sorted(key for key, value in given.items() if before.get(key) != value)
    if other:
        has = f"{before[other[0]]:g}" if other[0] in before else "not set"
        raise Conflict(
            f"{other[0]} of {entity.words} is {has} at the brokers.", code="not-as-observed"
        )
    return PlanDraft(
        resource=f"quota/{entity.words}",
        diff={"before": _shown(before), "after": _shown(before)},
        summary=summary_of(f"quota.set/adopted-{entity.code}", **entity.named),
        preconditions={"before": dict(before)},
        warnings=[warning_of("adopts", "info")],
    )


def quotas_of(view: BrokerView, entity: Whom) -> dict[str, float]:
    """What is set of exactly this entity; nothing: empty."""
    found = (quota for quota in view.list_quotas() if quota.entity == entity.parts)
    values = next((quota.values for quota in found), {})
    return {key: float(values[key]) for key in QUOTA_KEYS if key in values}


def _shown(quotas: Mapping[str, float]) -> dict[str, float | None]:
    return {key: quotas.get(key) for key in QUOTA_KEYS}


def _kept(shown: Mapping[str, float | None]) -> dict[str, float]:
    return {key: float(value) for key, value in shown.items() if value is not None}
