"""What the kinds of operation on a user share."""

from collections.abc import Iterable

from controlplane.access.selectors import SERVICE_USERS
from controlplane.clusters.operations_base import ClusterOperationKind, Touched
from controlplane.common.crypto import new_password
from controlplane.common.problems import Conflict
from controlplane.observed.sections import ACLS, USERS
from controlplane.operations.locks import Resource
from controlplane.operations.models import Operation, Plan
from controlplane.operations.services import secret_keep


class UserKind(ClusterOperationKind):
    def lock_names(self, resource: Resource, plan: Plan) -> Iterable[str]:
        if resource is Resource.USER:
            return [plan.inputs["username"]]
        return super().lock_names(resource, plan)

    def touched(self, plan: Plan) -> Touched:  # noqa: ARG002 - a hook
        return Touched(sections=[USERS, ACLS])


def check_not_service_user(username: str) -> None:
    if username in SERVICE_USERS:
        raise Conflict(f"{username} is the service's own user.", code="service-user")


def keep_new_password(operation: Operation, username: str, mechanism: str) -> None:
    values = {"username": username, "password": new_password(), "mechanism": mechanism}
    secret_keep(operation, values)
