"""What the kinds of operation on a user share."""

from collections.abc import Iterable

from controlplane.access.selectors import SERVICE_USERS
from controlplane.clusters.operations_base import ClusterOperationKind
from controlplane.common.crypto import new_password
from controlplane.common.problems import Conflict
from controlplane.observed.sections import ACLS, USERS
from controlplane.operations.locks import Resource
from controlplane.operations.models import Operation, Plan
from controlplane.operations.services import secret_keep


class UserKind(ClusterOperationKind):
    touched_sections = (USERS, ACLS)

    def lock_names(self, resource: Resource, plan: Plan) -> Iterable[str]:
        if resource is Resource.USER:
            return [plan.inputs["username"]]
        return super().lock_names(resource, plan)


def check_not_service_user(username: str) -> None:
    if username in SERVICE_USERS:
        raise Conflict(f"{username} is the service's own user.", code="service-user")


def keep_new_password(operation: Operation, username: str, mechanism: str) -> None:
    values = {"username": username, "password": new_password(), "mechanism": mechanism}
    secret_keep(operation, values)
