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
INTEGERS = (ConfigType.INT, ConfigType.LONG, ConfigType.SHORT)
NUMBERS = (*INTEGERS, ConfigType.DOUBLE)
NO_NUMBERS = (
    *("soon", "", "1e", "0x10", "1_000", "NaN", "Infinity", "--1", "1 2"),
    *("1\u2028", "\u00a01", "\u0663", "1\x85", "9" * 5_000),
)

NUMBER_KEYS = [one for one in KEYS if one[1].type in NUMBERS]
BOOLEAN_KEYS = [one for one in KEYS if one[1].type is ConfigType.BOOLEAN]
CHOICE_KEYS = [one for one in KEYS if one[1].choices]
# Any text may be one of these, or their form is tested on its own.
FREE = {
    "follower.replication.throttled.replicas",
    "leader.replication.throttled.replicas",
    "log.dir",
    "log.dirs",
    "log.message.format.version",
    "message.format.version",
}


def refusal(kind: str, key: ConfigKey, text: str) -> ConfigError:
    parse = TopicConfig.parse if kind == "topic" else BrokerConfig.parse
    with pytest.raises(ConfigError) as refused:
        parse({**({} if kind == "topic" else BASE), key.name: text})
    error = refused.value
    assert error.key == key.name
    assert key.name in str(error)
    assert text in str(error)
    return error


def each(keys: list[tuple[str, ConfigKey]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("kind", "key"), keys, ids=[f"{kind}-{key.name}" for kind, key in keys]
    )


def ends(key: ConfigKey) -> list[tuple[float, int]]:
    """The bounds that a text can name, each with the direction that leads out."""
    lowest, highest = key.bounds
    return [
        (bound, by)
        for bound, by in ((lowest, -1), (highest, 1))
        if not math.isinf(bound) and abs(bound) < 1e300
    ]


def spelled(key: ConfigKey, number: float) -> str:
    return str(int(number)) if key.type in INTEGERS else repr(float(number))


def test_every_key_is_a_number_a_boolean_a_choice_or_free() -> None:
    bound = {key.name for _, key in (*NUMBER_KEYS, *BOOLEAN_KEYS, *CHOICE_KEYS)}
    assert {key.name for _, key in KEYS} - bound == FREE
    assert bound.isdisjoint(FREE)


@each(NUMBER_KEYS)
def test_a_number_beyond_its_bounds_is_refused(kind: str, key: ConfigKey) -> None:
    assert ends(key)
    for bound, by in ends(key):
        error = refusal(kind, key, spelled(key, int(bound) + by))
        assert str(int(bound)) in error.reason, "the message names the allowed range"


@each(NUMBER_KEYS)
def test_a_number_at_its_bounds_is_allowed(kind: str, key: ConfigKey) -> None:
    assert ends(key)
    for bound, _ in ends(key):
        assert key.parse(spelled(key, bound)) == bound


@each(NUMBER_KEYS)
def test_what_is_no_number_is_refused(kind: str, key: ConfigKey) -> None:
    for text in (*NO_NUMBERS, *(["1.5"] if key.type in INTEGERS else [])):
        assert key.allowed in refusal(kind, key, text).reason


@each(BOOLEAN_KEYS)
def test_a_boolean_is_true_or_false(kind: str, key: ConfigKey) -> None:
    assert [key.parse(text) for text in ("true", "false", " TRUE ")] == [True, False, True]
    for text in ("yes", "1", ""):
        assert "either true or false" in refusal(kind, key, text).reason


@each(CHOICE_KEYS)
def test_only_a_choice_is_allowed(kind: str, key: ConfigKey) -> None:
    for choice in key.choices:
        assert key.parse(choice) == ((choice,) if key.type is ConfigType.LIST else choice)
    error = refusal(kind, key, "shred")
    assert all(choice in error.reason for choice in key.choices)


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
    config = BrokerConfig.parse({**BASE, "log.retention.hours": "0", "log.retention.ms": "5"})
    assert TopicConfig.parse({}, config).get_int("retention.ms") == 5


def test_compaction_needs_memory_for_its_keys() -> None:
    key = BROKER_CONFIGS["log.cleaner.dedupe.buffer.size"]
    assert "1048576" in refusal("broker", key, str(1 << 20)).reason
    assert "1048576" in refusal("broker", key, "-1").reason
    enough = BrokerConfig.parse({**BASE, key.name: str((1 << 20) + 1)})
    assert enough.get_int(key.name) == (1 << 20) + 1
    unused = BrokerConfig.parse({**BASE, key.name: "0", "log.cleaner.enable": "false"})
    assert unused.get_int(key.name) == 0
