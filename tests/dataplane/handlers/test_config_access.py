"""Requests that alter several resources: each has an answer of its own, in both ways to alter."""

from __future__ import annotations

import pytest

from dataplane.broker.metadata.registration import ensure_layout
from dataplane.model.errors import ErrorCode
from dataplane.wire.messages import alter_configs, incremental_alter_configs
from tests.dataplane.handlers.one_broker import ME, OneBroker

TOPIC, BROKER = 2, 4
KEY, VALUE = "num.io.threads", "9"


def incremental(*resources: tuple[int, str]) -> object:
    module = incremental_alter_configs
    configs = [module.AlterableConfig(name=KEY, config_operation=0, value=VALUE)]
    return module.IncrementalAlterConfigsRequest(resources=named(module, resources, configs))


def replacing(*resources: tuple[int, str]) -> object:
    module = alter_configs
    configs = [module.AlterableConfig(name=KEY, value=VALUE)]
    return module.AlterConfigsRequest(resources=named(module, resources, configs))


def named(module, resources, configs):
    return [
        module.AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
        for kind, name in resources
    ]


@pytest.fixture
async def broker():
    started = OneBroker()
    await ensure_layout(started.coordinator)
    await started.configs.start()
    yield started
    await started.configs.stop()
    await started.stop()


async def answers(broker: OneBroker, request: object) -> list[tuple[int, str, ErrorCode]]:
    response = await broker.ask(request, 1)
    return [
        (row.resource_type, row.resource_name, ErrorCode(row.error_code))
        for row in response.responses
    ]


@pytest.mark.parametrize("alter", [incremental, replacing])
async def test_a_refused_resource_stops_no_other(broker, alter):
    """They are answered in the order of the request."""
    request = alter((TOPIC, "absent"), (BROKER, str(ME)), (99, "x"))
    assert await answers(broker, request) == [
        (TOPIC, "absent", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (BROKER, str(ME), ErrorCode.NONE),
        (99, "x", ErrorCode.INVALID_REQUEST),
    ]


@pytest.mark.parametrize("alter", [incremental, replacing])
async def test_a_resource_that_is_named_twice_is_not_altered(broker, alter):
    request = alter((BROKER, str(ME)), (BROKER, ""), (BROKER, str(ME)))
    assert await answers(broker, request) == [
        (BROKER, str(ME), ErrorCode.INVALID_REQUEST),
        (BROKER, "", ErrorCode.NONE),
        (BROKER, str(ME), ErrorCode.INVALID_REQUEST),
    ]
    rows = (await broker.ask(request, 1)).responses
    assert [row.error_message for row in rows] == [
        "Each resource must appear at most once.",
        None,
        "Each resource must appear at most once.",
    ]


@pytest.mark.parametrize("alter", [incremental, replacing])
async def test_nothing_asked_is_nothing_answered(broker, alter):
    assert await answers(broker, alter()) == []
