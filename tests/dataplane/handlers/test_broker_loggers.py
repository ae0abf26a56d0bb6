"""BROKER_LOGGER: levels of this process's loggers, by DescribeConfigs and IncrementalAlterConfigs."""

from __future__ import annotations

import logging

import pytest

from dataplane.broker.metadata.registration import ensure_layout
from dataplane.model.errors import ErrorCode
from dataplane.security.principal import Principal
from dataplane.wire.messages import alter_configs, describe_configs, incremental_alter_configs
from tests.dataplane.handlers.one_broker import ME, OneBroker

LOGGER = 8
SET, DELETE, APPEND = 0, 1, 2
NAME = "dataplane.server.dispatch"
CHILD, PARENT = "dataplane.test.of.levels", "dataplane.test.of"


@pytest.fixture
def levels():
    """Gives the levels back that a test changed."""
    logging.getLogger(CHILD)
    names = ("", NAME, CHILD, PARENT, "dataplane")
    before = {name: logging.getLogger(name).level for name in names}
    yield
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


async def started(**settings: str) -> OneBroker:
    broker = OneBroker(**settings)
    await ensure_layout(broker.coordinator)
    await broker.configs.start()
    return broker


@pytest.fixture
async def broker(levels):
    one = await started()
    yield one
    await one.configs.stop()
    await one.stop()


async def alter(broker, *changes, entity=str(ME), dry=False):
    module = incremental_alter_configs
    resource = module.AlterConfigsResource(
        resource_type=LOGGER,
        resource_name=entity,
        configs=[
            module.AlterableConfig(name=name, config_operation=operation, value=value)
            for name, operation, value in changes
        ],
    )
    request = module.IncrementalAlterConfigsRequest(resources=[resource], validate_only=dry)
    (answer,) = (await broker.ask(request, 1)).responses
    return ErrorCode(answer.error_code), answer.error_message


async def described(broker, *names, entity=str(ME), version=4):
    resource = describe_configs.DescribeConfigsResource(
        resource_type=LOGGER, resource_name=entity, configuration_keys=list(names) or None
    )
    request = describe_configs.DescribeConfigsRequest(resources=[resource], include_synonyms=True)
    (answer,) = (await broker.ask(request, version)).results
    return answer


async def test_every_logger_of_ours_is_described_with_the_level_in_force(broker):
    logging.getLogger().setLevel(logging.WARNING)
    answer = await described(broker)
    assert answer.error_code == 0
    rows = {row.name: row for row in answer.configs}
    assert {"root", "dataplane", NAME, CHILD, PARENT} <= set(rows)
    assert not [name for name in rows if name.startswith(("kazoo", "asyncio"))]
    assert rows[CHILD].value == rows["root"].value == "WARN"
    assert {(row.config_source, row.is_sensitive, row.read_only) for row in rows.values()} == {
        (6, False, False)
    }
    assert [row.name for row in (await described(broker, "root", NAME)).configs] == [NAME, "root"]


@pytest.mark.parametrize(
    ("level", "number"),
    [
        *(("TRACE", 5), ("DEBUG", 10), ("INFO", 20), ("WARN", 30)),
        *(("ERROR", 40), ("FATAL", 50), ("OFF", 60)),
    ],
)
async def test_a_level_is_set_at_once_and_described(broker, level, number):
    assert await alter(broker, (NAME, SET, level)) == (ErrorCode.NONE, None)
    logger = logging.getLogger(NAME)
    assert logger.level == number
    assert logger.isEnabledFor(logging.CRITICAL) == (level != "OFF")
    assert (await described(broker, NAME)).configs[0].value == level


async def test_delete_lets_a_logger_follow_the_root_again(broker):
    await alter(broker, (NAME, SET, "DEBUG"), ("root", SET, "ERROR"))
    assert (await described(broker, NAME)).configs[0].value == "DEBUG"
    assert await alter(broker, (NAME, DELETE, None)) == (ErrorCode.NONE, None)
    assert (await described(broker, NAME)).configs[0].value == "ERROR"


async def test_a_parents_level_is_its_childrens(broker):
    assert await alter(broker, (PARENT, SET, "TRACE")) == (ErrorCode.NONE, None)
    assert (await described(broker, CHILD)).configs[0].value == "TRACE"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (("no.such.logger", SET, "INFO"), ErrorCode.INVALID_CONFIG),
        (("no.such.logger", DELETE, None), ErrorCode.INVALID_CONFIG),
        (("kazoo.client", SET, "TRACE"), ErrorCode.INVALID_CONFIG),
        ((NAME, SET, "LOUD"), ErrorCode.INVALID_CONFIG),
        ((NAME, SET, "info"), ErrorCode.INVALID_CONFIG),
        ((NAME, SET, None), ErrorCode.INVALID_REQUEST),
        ((NAME, APPEND, "INFO"), ErrorCode.INVALID_REQUEST),
        (("root", DELETE, None), ErrorCode.INVALID_REQUEST),
    ],
)
async def test_what_cannot_be_done_changes_nothing(broker, change, code):
    logging.getLogger("kazoo.client")
    before = (await described(broker)).configs
    # A good change beside the bad one: all of a resource or none of it.
    assert (await alter(broker, (CHILD, SET, "TRACE"), change))[0] == code
    assert (await described(broker)).configs == before


async def test_to_validate_only_changes_nothing(broker):
    logging.getLogger(NAME).setLevel(logging.INFO)
    assert await alter(broker, (NAME, SET, "TRACE"), dry=True) == (ErrorCode.NONE, None)
    assert (await alter(broker, (NAME, SET, "x"), dry=True))[0] == ErrorCode.INVALID_CONFIG
    assert logging.getLogger(NAME).level == logging.INFO


@pytest.mark.parametrize("entity", ["", "2", "x"])
async def test_only_this_brokers_loggers_are_here(broker, entity):
    assert (await alter(broker, (NAME, SET, "INFO"), entity=entity))[0] == ErrorCode.INVALID_REQUEST
    assert (await described(broker, entity=entity)).error_code == ErrorCode.INVALID_REQUEST


async def test_the_old_way_to_alter_has_no_loggers(broker):
    resource = alter_configs.AlterConfigsResource(
        resource_type=LOGGER,
        resource_name=str(ME),
        configs=[alter_configs.AlterableConfig(name=NAME, value="TRACE")],
    )
    request = alter_configs.AlterConfigsRequest(resources=[resource], validate_only=False)
    (answer,) = (await broker.ask(request, 2)).responses
    assert answer.error_code == ErrorCode.INVALID_REQUEST


async def test_a_tenant_changes_no_loggers(levels):
    """What a broker logs at its finest levels is not of one tenant alone, and fills a disk."""
    one = await started(
        **{
            "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
            "allow.everyone.if.no.acl.found": "true",
            "super.users": "User:admin",
            "penstock.tenant.configs.only": "true",
        }
    )
    one.info.principal = Principal.user("tenant")
    assert (await alter(one, (NAME, SET, "TRACE")))[0] == ErrorCode.POLICY_VIOLATION
    one.info.principal = Principal.user("admin")
    assert await alter(one, (NAME, SET, "TRACE")) == (ErrorCode.NONE, None)
    await one.configs.stop()
    await one.stop()


async def test_without_the_right_there_is_neither(levels):
    one = await started(**{"authorizer.class.name": "kafka.security.authorizer.AclAuthorizer"})
    one.info.principal = Principal.user("nobody")
    denied = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert (await alter(one, (NAME, SET, "TRACE")))[0] == denied
    assert (await described(one)).error_code == denied
    await one.configs.stop()
    await one.stop()
