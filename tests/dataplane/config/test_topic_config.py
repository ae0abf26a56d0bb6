"""Topic settings over broker defaults."""

from __future__ import annotations

import pytest

from dataplane.config import TOPIC_CONFIGS, TOPIC_SYNONYMS, BrokerConfig, ConfigError, TopicConfig
from dataplane.config.broker_config import BROKER_CONFIGS


@pytest.mark.parametrize("name", TOPIC_SYNONYMS)
def test_every_synonym_is_a_broker_key_of_the_same_type(name: str) -> None:
    assert TOPIC_SYNONYMS[name]
    for synonym, factor in TOPIC_SYNONYMS[name]:
        assert factor > 1 or BROKER_CONFIGS[synonym].type is TOPIC_CONFIGS[name].type


def test_defaults_of_a_default_broker_are_the_topic_keys_own() -> None:
    config = TopicConfig.parse({}, BrokerConfig.parse({}))
    assert {name: config[name] for name in config} == {
        name: key.default for name, key in TOPIC_CONFIGS.items()
    }


@pytest.mark.parametrize(
    ("broker", "expected"),
    [
        ({"log.retention.hours": "2"}, 7_200_000),
        ({"log.retention.hours": "2", "log.retention.minutes": "3"}, 180_000),
        ({"log.retention.hours": "2", "log.retention.ms": "4"}, 4),
        ({"log.retention.hours": "-1"}, -1),
    ],
)
def test_retention_falls_back_from_ms_to_minutes_to_hours(
    broker: dict[str, str], expected: int
) -> None:
    config = TopicConfig.parse({}, BrokerConfig.parse(broker))
    assert config.get_int("retention.ms") == expected


def test_the_topic_wins_over_the_broker() -> None:
    broker = BrokerConfig.parse({"log.segment.bytes": "1000"})
    assert TopicConfig.parse({}, broker).get_int("segment.bytes") == 1000
    assert TopicConfig.parse({"segment.bytes": "2000"}, broker).get_int("segment.bytes") == 2000
    both = TopicConfig.parse({"cleanup.policy": "compact,delete"})
    assert both.get_list("cleanup.policy") == ("compact", "delete")
    assert both.originals == {"cleanup.policy": "compact,delete"}


@pytest.mark.parametrize(
    "overrides",
    [
        {"retention.ms": "-2"},
        {"retention.ms": "1e3"},
        {"segment.bytes": "13"},
        {"cleanup.policy": "shred"},
        {"min.insync.replicas": "0"},
        {"message.timestamp.type": "Now"},
        {"no.such.key": "1"},
        {"leader.replication.throttled.replicas": "0:1,x"},
        {"remote.storage.enable": "true"},
        {"remote.log.copy.disable": "true"},
        {"remote.log.delete.on.disable": "true"},
        {"min.compaction.lag.ms": "9", "max.compaction.lag.ms": "8"},
    ],
)
def test_a_bad_value_is_refused_by_name(overrides: dict[str, str]) -> None:
    with pytest.raises(ConfigError) as refused:
        TopicConfig.parse(overrides)
    assert refused.value.key == next(iter(overrides))


@pytest.mark.parametrize(
    ("text", "listed"), [("*", ("*",)), ("0:1,12:3", ("0:1", "12:3")), ("", ())]
)
def test_throttled_replicas(text: str, listed: tuple[str, ...]) -> None:
    name = "leader.replication.throttled.replicas"
    assert TopicConfig.parse({name: text}).get_list(name) == listed


@pytest.mark.parametrize("text", ["0", "0:", ":1", "0:1:2", "*,0:1", "-1:2", "all"])
def test_what_names_no_replicas_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="list of partition:broker pairs"):
        TopicConfig.parse({"follower.replication.throttled.replicas": text})
