"""Corners of the configuration APIs, as Kafka 3.9 answers them."""

from __future__ import annotations

import pytest

from dataplane.broker.metadata.registration import ensure_layout
from dataplane.config.key import WITHOUT_EFFECT
from dataplane.model.errors import ErrorCode
from dataplane.wire.messages import alter_configs, describe_configs, incremental_alter_configs
from tests.dataplane.handlers.one_broker import ME, OneBroker

TOPIC, BROKER = 2, 4
SET, DELETE, APPEND, SUBTRACT = range(4)


@pytest.fixture
async def broker():
    started = OneBroker(**{"my.unknown.key": "1", "log.retention.hours": "7"})
    await ensure_layout(started.coordinator)
    await started.configs.start()
    started.topic("t")
    yield started
    await started.configs.stop()
    await started.stop()


async def described(broker, kind, name, *keys, version=4, synonyms=True):
    resource = describe_configs.DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=list(keys) or None
    )
    request = describe_configs.DescribeConfigsRequest(
        resources=[resource], include_synonyms=synonyms, include_documentation=True
    )
    (answer,) = (await broker.ask(request, version)).results
    return answer


async def alter(broker, kind, name, *changes, dry=False):
    module = incremental_alter_configs
    resource = module.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            module.AlterableConfig(name=key, config_operation=operation, value=value)
            for key, operation, value in changes
        ],
    )
    request = module.IncrementalAlterConfigsRequest(resources=[resource], validate_only=dry)
    (answer,) = (await broker.ask(request, 1)).responses
    return ErrorCode(answer.error_code)


async def replace(broker, kind, name, *settings):
    resource = alter_configs.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[alter_configs.AlterableConfig(name=key, value=value) for key, value in settings],
    )
    request = alter_configs.AlterConfigsRequest(resources=[resource], validate_only=False)
    (answer,) = (await broker.ask(request, 2)).responses
    return ErrorCode(answer.error_code)


@pytest.mark.parametrize("name", ["", ".", "a b", "x" * 250])
async def test_a_name_that_no_topic_can_have(broker, name):
    answer = await described(broker, TOPIC, name)
    assert answer.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    expected = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if name else ErrorCode.INVALID_REQUEST
    assert await alter(broker, TOPIC, name, ("retention.ms", SET, "1")) == expected
    assert await replace(broker, TOPIC, name, ("retention.ms", "1")) == expected


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ([("retention.ms", SET, None)], ErrorCode.INVALID_REQUEST),
        ([("retention.ms", SET, "1"), ("retention.ms", DELETE, None)], ErrorCode.INVALID_REQUEST),
        ([("retention.ms", 9, "1")], ErrorCode.INVALID_REQUEST),
        ([("retention.ms", SET, "soon")], ErrorCode.INVALID_CONFIG),
        ([("retention.ms", APPEND, "1")], ErrorCode.INVALID_CONFIG),
        ([("no.such.key", SET, "1")], ErrorCode.INVALID_CONFIG),
        ([("no.such.key", APPEND, "1")], ErrorCode.INVALID_CONFIG),
        ([("no.such.key", DELETE, None)], ErrorCode.NONE),
        ([("cleanup.policy", APPEND, "compact")], ErrorCode.NONE),
        ([("cleanup.policy", SUBTRACT, "compact")], ErrorCode.NONE),
        ([], ErrorCode.NONE),
    ],
)
async def test_changes_of_a_topic(broker, changes, code):
    assert await alter(broker, TOPIC, "t", *changes, dry=True) == code
    assert broker.configs.overrides("topics", "t") == {}
    assert await alter(broker, TOPIC, "t", *changes) == code


async def test_null_and_twice_in_the_old_way(broker):
    refused = ErrorCode.INVALID_REQUEST
    assert await replace(broker, TOPIC, "t", ("retention.ms", None)) == refused
    twice = (("retention.ms", "1"), ("retention.ms", "2"))
    assert await replace(broker, TOPIC, "t", *twice) == refused


@pytest.mark.parametrize("name", ["2", "one", "-1", " 1"])
async def test_another_broker_is_not_described_here(broker, name):
    answer = await described(broker, BROKER, name)
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    assert await alter(broker, BROKER, name, ("log.retention.ms", SET, "1")) == (
        ErrorCode.INVALID_REQUEST
    )


async def test_the_default_of_all_brokers_has_only_what_is_set(broker):
    assert (await described(broker, BROKER, "")).configs == []
    assert await alter(broker, BROKER, "", ("log.retention.ms", SET, "9000")) == ErrorCode.NONE
    (row,) = (await described(broker, BROKER, "")).configs
    assert (row.name, row.value, row.config_source, row.read_only) == (
        *("log.retention.ms", "9000"),
        *(3, False),
    )
    (row,) = (await described(broker, TOPIC, "t", "retention.ms")).configs
    assert [(each.name, each.value, each.source) for each in row.synonyms] == [
        ("log.retention.ms", "9000", 3),
        ("log.retention.hours", "7", 4),
        ("log.retention.hours", "168", 5),
    ]
    assert (row.value, row.config_source) == ("9000", 3)


async def test_documentation_types_and_what_is_unknown(broker):
    answer = await described(broker, BROKER, str(ME), "num.io.threads", "my.unknown.key")
    known, unknown = sorted(answer.configs, key=lambda row: row.name, reverse=True)
    assert (known.config_type, known.documentation.startswith(WITHOUT_EFFECT)) == (3, True)
    assert (unknown.config_type, unknown.documentation) == (0, None)
    assert (unknown.value, unknown.is_sensitive, unknown.config_source) == (None, True, 4)


@pytest.mark.parametrize("version", range(5))
async def test_every_version_says_where_a_value_is_from(broker, version):
    answer = await described(broker, BROKER, str(ME), "log.retention.hours", version=version)
    (row,) = answer.configs
    assert (row.value, row.read_only) == ("7", True)
    if version == 0:
        assert not row.is_default
    else:
        assert row.config_source == 4
        assert [each.source for each in row.synonyms] == [4, 5]
    answer = await described(broker, BROKER, str(ME), "num.partitions", version=version)
    assert answer.configs[0].is_default == (version == 0)
