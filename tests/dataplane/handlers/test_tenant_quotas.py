"""On a tenant's cluster its users bound each other by quotas, and never the platform's own clients."""

from __future__ import annotations

import pytest

from dataplane.model.errors import ErrorCode
from dataplane.security.principal import Principal
from tests.dataplane.handlers.one_broker import batch
from tests.dataplane.handlers.one_connection import produce
from tests.dataplane.handlers.test_client_quotas import RATE, altered, change, started, stopped

SETTINGS = {
    "authorizer_class_name": "kafka.security.authorizer.AclAuthorizer",
    "allow_everyone_if_no_acl_found": "true",
    "super_users": "User:root;User:platform",
    "penstock_inter_broker_username": "peers",
}
TENANT, ROOT = Principal.user("tenant"), Principal.user("root")
THEIRS = [
    [("user", "tenant")], [("user", None)], [("client-id", "app")], [("client-id", None)],
    [("user", "other"), ("client-id", "app")], [("user", None), ("client-id", None)],
]  # fmt: skip
NOT_THEIRS = [
    [("user", "root")], [("user", "platform")], [("user", "peers")], [("ip", "10.0.0.1")],
    [("ip", None)], [("user", "platform"), ("client-id", None)],
    [("user", "platform"), ("client-id", "x")],
]  # fmt: skip


@pytest.fixture(params=[True, False], ids=["tenant's", "own"])
async def broker(request):
    made = await started(
        **SETTINGS, penstock_tenant_configs_only="true" if request.param else "false"
    )
    made.topic("t")
    made.is_tenants = request.param
    yield made
    await stopped(made)


async def code_of(broker, principal, entity, **options) -> int:
    broker.info.principal = principal
    key = "connection_creation_rate" if entity[0][0] == "ip" else RATE
    (code,) = await altered(broker, change(entity, (key, 100.0)), **options)
    return code


@pytest.mark.parametrize("entity", THEIRS, ids=str)
async def test_a_tenant_bounds_its_own(broker, entity) -> None:
    for dry in (True, False):
        assert await code_of(broker, TENANT, entity, validate_only=dry) == 0


@pytest.mark.parametrize("entity", NOT_THEIRS, ids=str)
async def test_a_tenant_bounds_no_super_user_and_no_address(broker, entity) -> None:
    refused = ErrorCode.POLICY_VIOLATION if broker.is_tenants else 0
    for dry in (True, False):
        assert await code_of(broker, TENANT, entity, validate_only=dry) == refused
    assert await code_of(broker, ROOT, entity) == 0


@pytest.mark.parametrize("entity", [each for each in THEIRS if each[0][1] != "tenant"], ids=str)
async def test_what_does_not_name_a_super_user_does_not_bound_it(broker, entity) -> None:
    named = [(kind, name if name != "other" else None) for kind, name in entity]
    await code_of(broker, TENANT, named)
    message = produce(("t", 0, batch("x" * 5_000)))
    waits = {}
    for user in ("tenant", "root", "peers"):
        broker.info.principal = Principal.user(user)
        waits[user] = (await broker.ask(message, 9, "app")).throttle_time_ms
    assert waits["tenant"] > 0
    assert bool(waits["root"]) == bool(waits["peers"]) == (not broker.is_tenants)


async def test_one_that_names_it_does(broker) -> None:
    await code_of(broker, ROOT, [("user", "platform")])
    broker.info.principal = Principal.user("platform")
    answer = await broker.ask(produce(("t", 0, batch("x" * 5_000))), 9)
    assert answer.throttle_time_ms > 0


async def test_the_controllers_changes_are_not_bounded_either(broker) -> None:
    broker.info.principal = TENANT
    await altered(broker, change([("user", None)], ("controller_mutation_rate", 0.1)))
    quotas = broker.handlers.quotas
    assert quotas.mutation.find("tenant", "", 0) is not None
    quotas.mutation_quota("root", "", is_strict=True).spend(100)
    shown = {account.holder.user for account in quotas.mutation.latest()}
    assert ("root" in shown) == (not broker.is_tenants)
