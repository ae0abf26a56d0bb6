"""What the kinds of operation on a user share."""

from collections.abc import Iterable
from typing import Any

from controlplane.access.inputs import bindings_of
from controlplane.access.selectors import SERVICE_USERS
from controlplane.clusters.operations_base import ClusterOperationKind, Touched
from controlplane.common.crypto import new_password
from controlplane.common.problems import Conflict
from controlplane.observed.rows import acl_key
from controlplane.observed.sections import ACLS, USERS
from controlplane.operations.locks import Resource
from controlplane.operations.models import Operation, Plan
from controlplane.operations.services import secret_keep


class UserKind(ClusterOperationKind):
    def touched(self, plan: Plan) -> Touched:
        """The user, and the rules that the plan says it adds or removes."""
        rules = plan.inputs.get("acls", []) + plan.preconditions.get("acls", [])
        return {USERS: [plan.inputs["username"]], ACLS: rule_keys(rules)}

    def lock_names(self, resource: Resource, plan: Plan) -> Iterable[str]:
        if resource is Resource.USER:
            return [plan.inputs["username"]]
        return super().lock_names(resource, plan)


def rule_keys(rows: list[dict[str, Any]]) -> list[str]:
    """By which lists know these rules."""
    return [acl_key(binding) for binding in bindings_of(rows)]


def check_not_service_user(username: str) -> None:
    if username in SERVICE_USERS:
        raise Conflict(f"{username} is the service's own user.", code="service-user")


def keep_new_password(operation: Operation, username: str, mechanism: str) -> None:
    values = {"username": username, "password": new_password(), "mechanism": mechanism}
    secret_keep(operation, values)
