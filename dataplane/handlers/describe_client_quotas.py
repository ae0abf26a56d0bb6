"""DescribeClientQuotas (48), versions 0-1: quotas of users, client ids and addresses (KIP-546).

Behaviour: needs DescribeConfigs on the cluster. An entity is answered when it has, for every type
that the filter names, a name that matches; a strict filter leaves out entities with other types
too. Answered by any broker from what it knows; no quota at all is an empty list.
Version notes: 1 is the flexible encoding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.acl_codes import require_cluster
from dataplane.model.errors import KafkaError
from dataplane.quotas.filters import Filter
from dataplane.security.acl import AclOperation
from dataplane.wire.messages.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(
    context: RequestContext, request: DescribeClientQuotasRequest
) -> DescribeClientQuotasResponse:
    try:
        require_cluster(context, AclOperation.DESCRIBE_CONFIGS)
        wanted = Filter.from_components(
            [(each.entity_type, each.match_type, each.match) for each in request.components],
            is_strict=request.strict,
        )
    except KafkaError as error:
        return DescribeClientQuotasResponse(
            error_code=error.code, error_message=error.message, entries=None
        )
    return DescribeClientQuotasResponse(
        entries=[
            EntryData(
                entity=[
                    EntityData(entity_type=kind, entity_name=name) for kind, name in entity.parts()
                ],
                values=[ValueData(key=key, value=value) for key, value in quotas.items()],
            )
            for entity, quotas in context.broker.client_quotas.describe(wanted)
        ]
    )
