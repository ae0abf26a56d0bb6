"""On a tenant's cluster its users change what is a tenant's, whatever ACLs they give themselves."""

from __future__ import annotations

import pytest

from dataplane.broker.metadata.registration import ensure_layout
from dataplane.config import BROKER_CONFIGS, Dynamic, Scope
from dataplane.model.errors import ErrorCode
from dataplane.security.principal import Principal
from dataplane.wire.messages import alter_configs, incremental_alter_configs
from tests.dataplane.handlers.one_broker import ME, OneBroker
from tests.dataplane.handlers.test_thread_counts import (
    incremental,
    replacing,
    result,
    settled,
    stopped,
)

BROKER = 4
NOT_A_TENANTS = sorted(
    name
    for name, key in BROKER_CONFIGS.items()
    if key.dynamic is not Dynamic.READ_ONLY and key.scope is not Scope.TENANT
)
TENANT, ADMIN = Principal.user("tenant"), Principal.user("admin")
SUPER = "User:admin"


async def started(principal: Principal, **settings: str) -> OneBroker:
    """Everything is allowed by ACLs, as to a user with ALL on the cluster."""
    broker = OneBroker(
        **{
            "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
            "allow.everyone.if.no.acl.found": "true",
            "super.users": SUPER,
            "penstock.tenant.configs.only": "true",
            **settings,
        }
    )
    await ensure_layout(broker.coordinator)
    await broker.configs.start()
    broker.info.principal = principal
    return broker


@pytest.mark.parametrize("make", [incremental, replacing])
@pytest.mark.parametrize("entity", ["", str(ME)])
async def test_a_user_changes_what_is_a_tenants(make, entity):
    broker = await started(TENANT)
    answer = await result(broker, make(entity, "log.retention.ms", "60000", dry=False))
    assert answer.error_code == 0
    assert broker.configs.broker_config.get_int("log.retention.ms") == 60_000
    for dry in (True, False):
        answer = await result(broker, make(entity, "min.insync.replicas", "31", dry=dry))
        assert answer.error_code == ErrorCode.POLICY_VIOLATION
        assert "at most 30" in answer.error_message
    assert (await result(broker, make(entity, "log.retention.ms", None, dry=False))).error_code == 0
    await stopped(broker)


@pytest.mark.parametrize("make", [incremental, replacing])
@pytest.mark.parametrize("key", NOT_A_TENANTS)
async def test_a_user_changes_nothing_else(make, key):
    broker = await started(TENANT)
    value = BROKER_CONFIGS[key].format(BROKER_CONFIGS[key].default) or "1"
    before = broker.configs.broker_config.originals
    for name in (key, f"listener.name.plaintext.{key}"):
        answer = await result(broker, make(str(ME), name, value, dry=False))
        assert answer.error_code in (ErrorCode.POLICY_VIOLATION, ErrorCode.INVALID_CONFIG)
    await settled(broker)
    assert broker.configs.broker_config.originals == before
    await stopped(broker)


async def test_paths_and_memory_are_refused_as_policy():
    broker = await started(TENANT)
    for key, value in (
        ("ssl.keystore.location", "/etc/passwd"),
        ("listener.name.plaintext.ssl.keystore.location", "/etc/passwd"),
        ("log.cleaner.dedupe.buffer.size", str(1 << 40)),
        ("background.threads", "20"),
        ("listeners", "PLAINTEXT://127.0.0.1:1"),
    ):
        answer = await result(broker, incremental(str(ME), key, value, dry=False))
        assert answer.error_code == ErrorCode.POLICY_VIOLATION, key
        assert key in answer.error_message
    await stopped(broker)


@pytest.mark.parametrize("make", [incremental, replacing])
async def test_a_super_user_and_an_open_cluster_are_not_bound(make):
    for principal, settings in (
        (ADMIN, {}),
        (TENANT, {"penstock.tenant.configs.only": "false"}),
        (TENANT, {"authorizer.class.name": ""}),
    ):
        broker = await started(principal, **settings)
        answer = await result(broker, make(str(ME), "background.threads", "20", dry=False))
        assert answer.error_code == 0
        assert broker.configs.broker_config.get_int("background.threads") == 20
        await stopped(broker)


async def test_a_user_takes_nothing_away_that_the_operator_set():
    """The old AlterConfigs replaces everything: what it leaves out, it would remove."""
    broker = await started(ADMIN)
    throttle = incremental(str(ME), "leader.replication.throttled.rate", "1000", dry=False)
    assert (await result(broker, throttle)).error_code == 0
    await settled(broker)
    broker.info.principal = TENANT
    for request in (
        replacing(str(ME), "log.retention.ms", "60000", dry=False),
        incremental(str(ME), "leader.replication.throttled.rate", None, dry=False),
    ):
        answer = await result(broker, request)
        assert answer.error_code == ErrorCode.POLICY_VIOLATION
        assert "leader.replication.throttled.rate" in answer.error_message
    kept = alter_configs.AlterConfigsResource(
        resource_type=BROKER,
        resource_name=str(ME),
        configs=[
            alter_configs.AlterableConfig(name=name, value=value)
            for name, value in (
                ("leader.replication.throttled.rate", "1000"),
                ("log.retention.ms", "60000"),
            )
        ],
    )
    request = alter_configs.AlterConfigsRequest(resources=[kept], validate_only=False)
    assert (await result(broker, request)).error_code == 0
    await stopped(broker)


async def test_appending_to_a_list_counts_by_what_comes_out():
    broker = await started(TENANT)
    config = incremental_alter_configs.AlterableConfig(
        name="log.cleanup.policy", config_operation=2, value="compact"
    )
    resource = incremental_alter_configs.AlterConfigsResource(
        resource_type=BROKER, resource_name="", configs=[config]
    )
    request = incremental_alter_configs.IncrementalAlterConfigsRequest(
        resources=[resource], validate_only=False
    )
    assert (await result(broker, request)).error_code == 0
    assert broker.configs.broker_config.get_list("log.cleanup.policy") == ("delete", "compact")
    await stopped(broker)
