"""DescribeClientQuotas and AlterClientQuotas: what is set is described, on every broker."""

from __future__ import annotations

import pytest

from dataplane.broker.metadata.registration import ensure_layout
from dataplane.model.errors import ErrorCode
from dataplane.security.principal import Principal
from dataplane.security.scram import ScramCredential, ScramMechanism
from dataplane.wire.messages import alter_client_quotas as alter
from dataplane.wire.messages import describe_client_quotas as describe
from tests.dataplane.handlers.one_broker import OneBroker

RATE = "producer_byte_rate"


async def started(**settings: str) -> OneBroker:
    broker = OneBroker(**settings)
    await ensure_layout(broker.coordinator)
    await broker.configs.start()
    await broker.authorizer.start()
    return broker


async def stopped(broker: OneBroker) -> None:
    await broker.authorizer.stop()
    await broker.configs.stop()
    await broker.stop()


@pytest.fixture
async def broker():
    made = await started()
    yield made
    await stopped(made)


@pytest.fixture
async def guarded():
    """Nobody may do anything beside the super user."""
    made = await started(
        authorizer_class_name="kafka.security.authorizer.AclAuthorizer", super_users="User:root"
    )
    yield made
    await stopped(made)


def change(entity: list[tuple[str, str | None]], *ops: tuple[str, float | None]):
    return alter.AlteredEntry(
        entity=[alter.EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
        ops=[alter.OpData(key=key, value=value or 0.0, remove=value is None) for key, value in ops],
    )


async def altered(broker, *entries, validate_only=False, version=1):
    request = alter.AlterClientQuotasRequest(entries=list(entries), validate_only=validate_only)
    response = await broker.ask(request, version)
    named = [[(each.entity_type, each.entity_name) for each in e.entity] for e in response.entries]
    asked = [[(each.entity_type, each.entity_name) for each in e.entity] for e in entries]
    assert named == asked
    return [ErrorCode(entry.error_code) for entry in response.entries]


async def described(broker, *components, strict=False, version=1):
    wanted = [
        describe.ComponentData(entity_type=kind, match_type=match, match=name)
        for kind, match, name in components
    ]
    request = describe.DescribeClientQuotasRequest(components=wanted, strict=strict)
    response = await broker.ask(request, version)
    if response.error_code:
        assert response.entries is None
        return ErrorCode(response.error_code)
    return [
        (
            [(each.entity_type, each.entity_name) for each in entry.entity],
            {value.key: value.value for value in entry.values},
        )
        for entry in response.entries
    ]


@pytest.mark.parametrize("version", [0, 1])
async def test_without_quotas_the_answer_is_empty(broker, version):
    assert await described(broker, version=version) == []
    assert await described(broker, ("user", 2, None), strict=True, version=version) == []


@pytest.mark.parametrize("version", [0, 1])
async def test_what_is_set_is_described_until_it_is_removed(broker, version):
    both = [("user", "u"), ("client-id", None)]
    first = change(both, (RATE, 10.0), ("request_percentage", 2.5))
    address = change([("ip", None)], ("connection_creation_rate", 7.0))
    assert await altered(broker, first, address, version=version) == [0, 0]
    assert await described(broker, version=version) == [
        ([("ip", None)], {"connection_creation_rate": 7.0}),
        (both, {RATE: 10.0, "request_percentage": 2.5}),
    ]
    assert await altered(broker, change(both, (RATE, None)), version=version) == [0]
    assert await described(broker, ("user", 0, "u"), version=version) == [
        (both, {"request_percentage": 2.5})
    ]
    last = change(both, ("request_percentage", None))
    assert await altered(broker, last, version=version) == [0]
    assert await described(broker, ("user", 0, "u"), version=version) == []


async def test_one_entitys_refusal_stops_no_other(broker):
    entries = [
        change([("user", "a")], (RATE, 10.0), ("bad", 1.0)),
        change([("user", "b")], (RATE, 10.0)),
        change([("user", "b")], (RATE, 11.0)),
        change([]),
    ]
    bad = ErrorCode.INVALID_REQUEST
    assert await altered(broker, *entries) == [bad, 0, bad, bad]
    assert await described(broker) == [([("user", "b")], {RATE: 10.0})]


async def test_validation_alone_changes_nothing(broker):
    good, bad = change([("user", "a")], (RATE, 1.0)), change([("user", "b")], (RATE, -1.0))
    assert await altered(broker, good, bad, validate_only=True) == [0, ErrorCode.INVALID_REQUEST]
    assert await described(broker) == []


async def test_quotas_and_credentials_share_a_node_and_leave_each_other_alone(broker):
    mechanism = ScramMechanism.SCRAM_SHA_256
    credential = ScramCredential.from_salted_password(mechanism, b"p", b"s", 4096)
    user = [("user", "u")]
    await broker.authorizer.scram.alter("u", {mechanism: credential})
    assert await described(broker) == []
    assert await altered(broker, change(user, (RATE, 10.0))) == [0]
    stolen = change(user, ("SCRAM-SHA-256", None))
    assert await altered(broker, stolen) == [ErrorCode.INVALID_REQUEST]
    assert await broker.authorizer.scram.refresh("u") == {mechanism: credential}
    assert await described(broker) == [(user, {RATE: 10.0})]
    await broker.authorizer.scram.alter("u", {mechanism: None})
    assert await described(broker) == [(user, {RATE: 10.0})]


async def test_unfit_filters_are_refused(broker):
    assert await described(broker, ("group", 2, None)) == ErrorCode.UNSUPPORTED_VERSION
    assert await described(broker, ("user", 9, None)) == ErrorCode.INVALID_REQUEST


async def test_a_client_without_acls_neither_sees_nor_changes_quotas(guarded):
    denied = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    entry = change([("user", "u")], (RATE, 10.0))
    guarded.info.principal = Principal.user("somebody")
    assert await altered(guarded, entry, entry) == [denied, denied]
    assert await described(guarded) == denied
    guarded.info.principal = Principal.user("root")
    assert await described(guarded) == []
    assert await altered(guarded, entry) == [0]
    assert await described(guarded) == [([("user", "u")], {RATE: 10.0})]
