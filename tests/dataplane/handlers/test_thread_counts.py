"""Dynamic numbers of threads: Kafka's rule for every such key, in every way to change one."""

from __future__ import annotations

import asyncio

import pytest

from dataplane.broker.metadata.registration import ensure_layout
from dataplane.cluster import znodes
from dataplane.config.broker_config import BROKER_CONFIGS
from dataplane.config.key import Dynamic
from dataplane.model.errors import ErrorCode
from dataplane.wire.messages import alter_configs, incremental_alter_configs
from tests.dataplane.handlers.one_broker import ME, OneBroker

SET, DELETE = 0, 1
BROKER = 4
KEYS = sorted(
    key.name
    for key in BROKER_CONFIGS.values()
    if key.dynamic is not Dynamic.READ_ONLY
    and any(word in key.name for word in ("threads", "fetchers"))
)
PRESENT = 6


def incremental(entity: str, key: str, value: str | None, *, dry: bool) -> object:
    config = incremental_alter_configs.AlterableConfig(
        name=key, config_operation=DELETE if value is None else SET, value=value
    )
    resource = incremental_alter_configs.AlterConfigsResource(
        resource_type=BROKER, resource_name=entity, configs=[config]
    )
    return incremental_alter_configs.IncrementalAlterConfigsRequest(
        resources=[resource], validate_only=dry
    )


def replacing(entity: str, key: str, value: str | None, *, dry: bool) -> object:
    configs = [] if value is None else [alter_configs.AlterableConfig(name=key, value=value)]
    resource = alter_configs.AlterConfigsResource(
        resource_type=BROKER, resource_name=entity, configs=configs
    )
    return alter_configs.AlterConfigsRequest(resources=[resource], validate_only=dry)


async def started(**settings: str) -> OneBroker:
    broker = OneBroker(**settings)
    await ensure_layout(broker.coordinator)
    await broker.configs.start()
    return broker


async def stopped(broker: OneBroker) -> None:
    await broker.configs.stop()
    await broker.stop()


async def settled(broker: OneBroker) -> None:
    """The broker has read its own notifications too: by its clock they are old, so it removes them
    then.
    """
    changes = broker.coordinator.zookeeper.lookup(znodes.CONFIG_CHANGES)
    async with asyncio.timeout(10):
        while changes.children:
            await asyncio.sleep(0)


async def result(broker: OneBroker, request: object):
    return (await broker.ask(request, 1)).responses[0]


def test_the_keys_are_those_of_kafka():
    assert KEYS == [
        "background.threads",
        "log.cleaner.threads",
        "num.io.threads",
        "num.network.threads",
        "num.recovery.threads.per.data.dir",
        "num.replica.fetchers",
    ]


@pytest.mark.parametrize("make", [incremental, replacing])
@pytest.mark.parametrize("entity", ["", str(ME)])
@pytest.mark.parametrize("key", KEYS)
async def test_at_most_double_and_at_least_half(make, entity, key):
    broker = await started(**{key: str(PRESENT)})
    for value, words in (
        ("-1", "at least"),
        ("0", "at least 1"),
        ("1", "at least half the current value 6"),
        ("2", "at least half the current value 6"),
        ("13", "not be greater than double the current value 6"),
    ):
        for dry in (True, False):
            answer = await result(broker, make(entity, key, value, dry=dry))
            assert answer.error_code == ErrorCode.INVALID_CONFIG
            assert key in answer.error_message
            assert words in answer.error_message
    assert broker.configs.broker_config.get_int(key) == PRESENT
    for value in ("3", "6", "12"):
        assert (await result(broker, make(entity, key, value, dry=True))).error_code == 0
        assert broker.configs.broker_config.get_int(key) == PRESENT
    # What is in force now is what the next change is measured by, a deleted override's too.
    for value, after in (("12", 12), ("24", 24), (None, 24), ("12", 12), (None, 6), ("3", 3)):
        answer = await result(broker, make(entity, key, value, dry=False))
        refused = value is None and after == 24
        assert answer.error_code == (ErrorCode.INVALID_CONFIG if refused else 0)
        await settled(broker)
        assert broker.configs.broker_config.get_int(key) == after
    await stopped(broker)


@pytest.mark.parametrize("make", [incremental, replacing])
async def test_a_number_of_one_broker_hides_that_of_all(make):
    broker = await started(**{"num.io.threads": "4"})
    assert (await result(broker, make("1", "num.io.threads", "8", dry=False))).error_code == 0
    assert (await result(broker, make("", "num.io.threads", "100", dry=False))).error_code == 0
    assert broker.configs.broker_config.get_int("num.io.threads") == 8
    answer = await result(broker, make("1", "num.io.threads", None, dry=False))
    assert answer.error_code == ErrorCode.INVALID_CONFIG
    await stopped(broker)


async def test_a_listener_may_have_a_number_of_its_own():
    key = "listener.name.plaintext.num.network.threads"
    broker = await started()
    for value, code in (("0", ErrorCode.INVALID_CONFIG), ("7", ErrorCode.INVALID_CONFIG), ("6", 0)):
        answer = await result(broker, incremental("1", key, value, dry=False))
        assert answer.error_code == code
    await stopped(broker)


async def test_without_a_cleaner_its_threads_are_not_counted():
    broker = await started(**{"log.cleaner.enable": "false"})
    answer = await result(broker, incremental("", "log.cleaner.threads", "0", dry=False))
    assert answer.error_code == 0
    await stopped(broker)


async def test_every_number_that_a_change_moves_is_looked_at():
    """A request that names another key may not slip a number of threads through."""
    broker = await started(**{"num.io.threads": "2"})
    assert (await result(broker, replacing("", "num.io.threads", "4", dry=False))).error_code == 0
    assert (await result(broker, replacing("", "num.io.threads", "8", dry=False))).error_code == 0
    answer = await result(broker, replacing("", "log.retention.ms", "5", dry=False))
    assert answer.error_code == ErrorCode.INVALID_CONFIG
    assert "num.io.threads" in answer.error_message
    await stopped(broker)
