"""Operations of a tenant, newest first, and one with the plan that was confirmed."""

from functools import cache
from typing import Any

from console.operation_query import OperationsWanted
from console.parts import Part
from controlplane.common.grants import Scope
from controlplane.operations.selectors import (
    filtered,
    holding,
    operation_get,
    operations_behind,
    plan_dict,
    plan_get,
)
from controlplane.operations.selectors import operations as rows_of
from controlplane.tenants.models import Tenant

PAGE_SIZE = 50


def operations(tenant: Tenant, scope: Scope, wanted: OperationsWanted) -> dict[str, Part]:
    """A page of those that match, and where the next one goes on."""

    @cache
    def found() -> dict[str, Any]:
        rows = rows_of(tenant, scope)
        if wanted.search:
            rows = holding(rows, wanted.search, wanted.kinds)
        rows = filtered(rows, cluster_id=wanted.cluster_id, state=wanted.state)
        return operations_behind(
            tenant, scope, rows, place=wanted.place, size=PAGE_SIZE, path=wanted.path
        )

    return {"operations": Part(lambda: found()["data"]), "page": Part(lambda: found()["page"])}


def operation(tenant: Tenant, scope: Scope, operation_id: str) -> dict[str, Part]:
    def plan() -> dict[str, Any]:
        plan_id = operation_get(tenant, scope, operation_id)["plan_id"]
        return plan_dict(plan_get(tenant, scope, plan_id), scope)

    return {
        "operation": Part(lambda: operation_get(tenant, scope, operation_id)),
        "plan": Part(plan),
    }
