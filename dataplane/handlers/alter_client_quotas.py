"""AlterClientQuotas (49), versions 0-1: set and remove quotas of entities (KIP-546).

Behaviour: needs AlterConfigs on the cluster. One answer per entity: all of its changes happen, or
none. Taken by any broker and in force on all of them as soon as they hear of it. Values are whole
numbers (bytes and connections a second) or numbers (percent, partitions a second) above 0, as a
broker without ZooKeeper has it: what a bound of 0 would mean Kafka leaves open.
Where `penstock.tenant.configs.only` is set, users that are no super users set none of addresses
and of super users; defaults and quotas of client ids do not bound super users.
Version notes: 1 is the flexible encoding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.acl_codes import require_cluster
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.ports.coordinator import CoordinatorError
from dataplane.quotas.entities import ABSENT, Entity
from dataplane.quotas.overrides import Change
from dataplane.security.acl import AclOperation
from dataplane.wire.messages.alter_client_quotas import (
    AlterationResult,
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.wire.messages.alter_client_quotas import AlteredEntry


async def handle(
    context: RequestContext, request: AlterClientQuotasRequest
) -> AlterClientQuotasResponse:
    seen: set[Entity] = set()
    return AlterClientQuotasResponse(
        entries=[
            await _answer(context, entry, seen, validate_only=request.validate_only)
            for entry in request.entries
        ]
    )


async def _answer(
    context: RequestContext, entry: AlteredEntry, seen: set[Entity], *, validate_only: bool
) -> AlterationResult:
    result = AlterationResult(entity=entry.entity)
    try:
        require_cluster(context, AclOperation.ALTER_CONFIGS)
        entity = Entity.from_parts((each.entity_type, each.entity_name) for each in entry.entity)
        if entity in seen:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Ignoring duplicate entity")
        seen.add(entity)
        _require_own(context, entity)
        changes = [Change(op.key, None if op.remove else op.value) for op in entry.ops]
        await context.broker.client_quotas.alter(entity, changes, validate_only=validate_only)
    except KafkaError as error:
        result.error_code, result.error_message = error.code, error.message
    except CoordinatorError as error:
        result.error_code = ErrorCode.REQUEST_TIMED_OUT
        result.error_message = f"ZooKeeper: {error!r}"
    return result


def _require_own(context: RequestContext, entity: Entity) -> None:
    """On a cluster of tenants its users bound each other: KafkaError(POLICY_VIOLATION) for what
    would hold the platform's own clients back, or the hosts that they come from.
    """
    config = context.broker.configs.broker_config
    if context.is_super_user or not config.get_bool("penstock.tenant.configs.only"):
        return
    if entity.ip is not ABSENT:
        raise KafkaError(
            ErrorCode.POLICY_VIOLATION, "Only the operator sets quotas of addresses here."
        )
    if isinstance(entity.user, str) and context.broker.authorizer.is_platforms_own(entity.user):
        raise KafkaError(ErrorCode.POLICY_VIOLATION, "Only the operator sets quotas of this user.")
