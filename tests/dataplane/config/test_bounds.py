"""Every key of logs and topics refuses what it cannot mean: by key, value and allowed range."""

from __future__ import annotations

import math

import pytest

from dataplane.config import TOPIC_CONFIGS, BrokerConfig, ConfigError, ConfigKey, TopicConfig
from dataplane.config.broker_config import BROKER_CONFIGS
from dataplane.config.key import ConfigType
from dataplane.config.keys import log

BASE = {"broker.id": "1", "zookeeper.connect": "x"}
KEYS = [("topic", key) for key in TOPIC_CONFIGS.values()] + [("broker", key) for key in log.KEYS]
NUMBERS = (ConfigType.INT, ConfigType.LONG, ConfigType.SHORT, ConfigType.DOUBLE)


def refusal(kind: str, key: ConfigKey, text: str) -> ConfigError:
    parse = TopicConfig.parse if kind == "topic" else BrokerConfig.parse
    with pytest.raises(ConfigError) as refused:
        parse({**({} if kind == "topic" else BASE), key.name: text})
    error = refused.value
    assert error.key == key.name
    assert key.name in str(error)
    assert text in str(error)
    return error


@pytest.mark.parametrize(("kind", "key"), KEYS, ids=lambda value: getattr(value, "name", value))
def test_below_above_and_of_the_wrong_type(kind: str, key: ConfigKey) -> None:
    if key.type in NUMBERS:
        lowest, highest = key.bounds
        for bound, by in ((lowest, -1), (highest, 1)):
            if math.isinf(bound) or abs(bound) > 1e300:
                continue
            beyond = int(bound) + by if key.type is not ConfigType.DOUBLE else bound + by
            error = refusal(kind, key, str(beyond))
            assert str(int(bound)) in error.reason, "the allowed range is told"
        for text in ("soon", "", "1e", "0x10", "1_000", "NaN", "Infinity", "--1"):
            assert key.allowed in refusal(kind, key, text).reason
        if key.type is not ConfigType.DOUBLE:
            refusal(kind, key, "1.5")
    elif key.type is ConfigType.BOOLEAN:
        for text in ("yes", "1", ""):
            assert "either true or false" in refusal(kind, key, text).reason
    elif key.choices:
        error = refusal(kind, key, "shred")
        assert all(choice in error.reason for choice in key.choices)


@pytest.mark.parametrize(("kind", "key"), KEYS, ids=lambda value: getattr(value, "name", value))
def test_bounds_themselves_are_allowed(kind: str, key: ConfigKey) -> None:
    if key.type not in NUMBERS:
        return
    for bound in key.bounds:
        if math.isinf(bound):
            continue
        text = str(int(bound)) if key.type is not ConfigType.DOUBLE else repr(float(bound))
        assert key.parse(text) == bound


@pytest.mark.parametrize("kind", ["topic", "broker"])
def test_gzip_has_no_level_0(kind: str) -> None:
    key = BROKER_CONFIGS["compression.gzip.level"]
    assert "1 to 9" in refusal(kind, key, "0").reason


@pytest.mark.parametrize(
    "name", ["log.retention.ms", "log.retention.minutes", "log.retention.hours"]
)
def test_nothing_is_kept_for_no_time(name: str) -> None:
    assert "greater than 1" in refusal("broker", BROKER_CONFIGS[name], "0").reason
    assert BrokerConfig.parse({**BASE, name: "-1"}).get_int(name) == -1


def test_a_weaker_retention_key_is_not_looked_at() -> None:
    BrokerConfig.parse({**BASE, "log.retention.hours": "0", "log.retention.ms": "5"})


def test_compaction_needs_room_for_its_keys() -> None:
    key = BROKER_CONFIGS["log.cleaner.dedupe.buffer.size"]
    assert "1048576" in refusal("broker", key, str(1 << 20)).reason
    assert "1048576" in refusal("broker", key, "-1").reason
    BrokerConfig.parse({**BASE, key.name: str((1 << 20) + 1)})
    BrokerConfig.parse({**BASE, key.name: "0", "log.cleaner.enable": "false"})
