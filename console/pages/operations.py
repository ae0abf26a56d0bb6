"""Operations of a tenant, newest first, and one with the plan that was confirmed."""

from typing import Any

from console.parts import Part
from controlplane.common.grants import Scope
from controlplane.operations.selectors import operation_get, operation_list, plan_dict, plan_get
from controlplane.tenants.models import Tenant

LISTED = 500
"""Operations on the page; older ones are found over REST with its cursor."""


def operations(tenant: Tenant, scope: Scope) -> dict[str, Part]:
    return {"operations": Part(lambda: operation_list(tenant, scope, limit=LISTED))}


def operation(tenant: Tenant, scope: Scope, operation_id: str) -> dict[str, Part]:
    def plan() -> dict[str, Any]:
        plan_id = operation_get(tenant, scope, operation_id)["plan_id"]
        return plan_dict(plan_get(tenant, scope, plan_id), scope)

    return {
        "operation": Part(lambda: operation_get(tenant, scope, operation_id)),
        "plan": Part(plan),
    }
