"""What the handlers of inter-broker commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import CLUSTER_NAME, AclOperation, ResourceType

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


def require_cluster_action(context: RequestContext) -> None:
    """Only brokers may command brokers: KafkaError(CLUSTER_AUTHORIZATION_FAILED) otherwise.

    On clusters of tenants no ACL makes a client one (`penstock.tenant.configs.only`).
    """
    if not context.authorize(AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME):
        raise KafkaError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
