"""On a tenant's cluster nobody but a broker commands brokers, whatever ACLs there are."""

from __future__ import annotations

import pytest

from dataplane.broker.metadata.registration import ensure_layout
from dataplane.handlers.registry import HANDLED
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import (
    CLUSTER_NAME,
    AclEntry,
    AclOperation,
    Permission,
    ResourcePattern,
    ResourceType,
)
from dataplane.security.principal import ANONYMOUS, EVERYONE, Principal
from dataplane.wire.apis import ApiKey
from dataplane.wire.messages.allocate_producer_ids import AllocateProducerIdsRequest
from dataplane.wire.messages.alter_partition import AlterPartitionRequest
from dataplane.wire.messages.controlled_shutdown import ControlledShutdownRequest
from dataplane.wire.messages.stop_replica import StopReplicaRequest
from dataplane.wire.messages.update_metadata import UpdateMetadataRequest
from tests.dataplane.handlers.one_broker import OneBroker
from tests.dataplane.handlers.test_roles import roles

TENANT, BROKERS = Principal.user("tenant"), Principal.user("brokers")
COMMANDS = [
    roles(),
    StopReplicaRequest(controller_epoch=1, broker_epoch=7),
    UpdateMetadataRequest(controller_epoch=1, broker_epoch=7),
    AlterPartitionRequest(broker_id=1, broker_epoch=7),
    ControlledShutdownRequest(broker_id=1, broker_epoch=7),
    AllocateProducerIdsRequest(broker_id=1, broker_epoch=7),
]


async def started(*, tenants: bool, operation: AclOperation) -> OneBroker:
    """Everybody has `operation` on the cluster by an ACL of it."""
    broker = OneBroker(
        **{
            "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
            "allow.everyone.if.no.acl.found": "true",
            "penstock.inter.broker.username": BROKERS.name,
            "penstock.tenant.configs.only": str(tenants).lower(),
        }
    )
    await ensure_layout(broker.coordinator)
    await broker.authorizer.start()
    cluster = ResourcePattern.literal(ResourceType.CLUSTER, CLUSTER_NAME)
    entry = AclEntry(EVERYONE, "*", operation, Permission.ALLOW)
    await broker.authorizer.create(cluster, [entry])
    return broker


async def refusal_of(broker: OneBroker, command) -> int:
    version = HANDLED[ApiKey(command.API_KEY)][1]
    try:
        answer = await broker.ask(command, version)
    except KafkaError as refused:
        return refused.code
    return answer.error_code


@pytest.mark.parametrize("operation", [AclOperation.CLUSTER_ACTION, AclOperation.ALL])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: type(command).__name__)
@pytest.mark.parametrize("principal", [TENANT, ANONYMOUS])
async def test_no_acl_makes_a_client_a_broker(principal, command, operation):
    broker = await started(tenants=True, operation=operation)
    broker.info.principal = principal
    refused = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert await refusal_of(broker, command) == refused
    assert broker.partition("t") is None
    broker.info.principal = BROKERS
    assert await refusal_of(broker, command) != refused
    await broker.authorizer.stop()


@pytest.mark.parametrize("is_tenants", [True, False])
async def test_elsewhere_acls_decide_as_in_kafka(is_tenants):
    broker = await started(tenants=is_tenants, operation=AclOperation.CLUSTER_ACTION)
    broker.info.principal = TENANT
    answer = await refusal_of(broker, roles())
    expected = ErrorCode.CLUSTER_AUTHORIZATION_FAILED if is_tenants else ErrorCode.NONE
    assert answer == expected
    await broker.authorizer.stop()
