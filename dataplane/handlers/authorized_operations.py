"""The bit field that lists what a principal may do with a resource (KIP-430)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.security.acl import CLUSTER_NAME, SUPPORTED_OPERATIONS, ResourceType

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


def authorized_operations(
    context: RequestContext, resource_type: ResourceType, name: str = CLUSTER_NAME
) -> int:
    """Bit n is set when operation number n is allowed."""
    bits = 0
    for operation in SUPPORTED_OPERATIONS[resource_type]:
        if context.sees(operation, resource_type, name):
            bits |= 1 << operation
    return bits
