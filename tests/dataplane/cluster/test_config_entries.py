"""What DescribeConfigs says of a key: where its value is from, and what would count without it."""

from __future__ import annotations

from dataplane.cluster.config_entries import (
    ConfigEntry,
    ConfigSource,
    broker_entries,
    topic_entries,
)
from dataplane.config import BrokerConfig, ConfigType, TopicConfig

STATIC = {"broker.id": "1", "zookeeper.connect": "x"}


def synonyms(entry: ConfigEntry) -> list[tuple[str, str | None, ConfigSource]]:
    return [(each.name, each.value, each.source) for each in entry.synonyms]


def test_synonyms_go_by_layer_and_in_a_layer_by_strength() -> None:
    broker = BrokerConfig(
        {**STATIC, "log.retention.ms": "5000", "log.retention.hours": "3"},
        {"log.retention.ms": "6000"},
        {"log.retention.ms": "7000"},
    )
    config = TopicConfig.parse({"retention.ms": "1000"}, broker)
    (entry,) = topic_entries(config, broker, {"retention.ms"})
    behind = [
        ("log.retention.ms", "7000", ConfigSource.DYNAMIC_BROKER),
        ("log.retention.ms", "6000", ConfigSource.DYNAMIC_DEFAULT_BROKER),
        ("log.retention.ms", "5000", ConfigSource.STATIC_BROKER),
        ("log.retention.hours", "3", ConfigSource.STATIC_BROKER),
        ("log.retention.hours", "168", ConfigSource.DEFAULT),
    ]
    assert synonyms(entry) == [("retention.ms", "1000", ConfigSource.DYNAMIC_TOPIC), *behind]
    assert entry.source is ConfigSource.DYNAMIC_TOPIC
    (entry,) = broker_entries(broker, {"log.retention.hours"})
    assert synonyms(entry) == behind
    assert (entry.value, entry.source) == ("3", ConfigSource.DYNAMIC_BROKER)


def test_a_weaker_unit_in_a_stronger_layer_comes_first() -> None:
    broker = BrokerConfig({**STATIC, "log.roll.ms": "5000", "log.roll.hours": "3"})
    (entry,) = broker_entries(broker, {"log.roll.ms"})
    assert synonyms(entry)[:2] == [
        ("log.roll.ms", "5000", ConfigSource.STATIC_BROKER),
        ("log.roll.hours", "3", ConfigSource.STATIC_BROKER),
    ]


def test_an_internal_key_is_shown_only_where_it_is_set() -> None:
    name = "log.initial.task.delay.ms"
    broker = BrokerConfig(STATIC)
    assert broker_entries(broker, {name}) == []
    assert name not in {entry.key.name for entry in broker_entries(broker, None)}
    (entry,) = broker_entries(BrokerConfig({**STATIC, name: "1"}), {name})
    assert (entry.value, entry.source) == ("1", ConfigSource.STATIC_BROKER)


def test_secrets_have_no_value_in_any_layer() -> None:
    broker = BrokerConfig({**STATIC, "password.encoder.secret": "x"})
    (entry,) = broker_entries(broker, {"password.encoder.secret"})
    assert entry.value is None
    assert synonyms(entry) == [("password.encoder.secret", None, ConfigSource.STATIC_BROKER)]


def test_a_listeners_own_settings_are_shown_and_its_secrets_are_not() -> None:
    name, secret = "listener.name.plaintext.ssl.client.auth", "listener.name.x.ssl.key.password"
    broker = BrokerConfig({**STATIC, name: "required", secret: "hunter2"})
    (shown,) = broker_entries(broker, {name})
    assert (shown.key.name, shown.value, shown.is_sensitive) == (name, "required", False)
    assert synonyms(shown) == [(name, "required", ConfigSource.STATIC_BROKER)]
    (hidden,) = broker_entries(broker, {secret})
    assert (hidden.value, hidden.is_sensitive) == (None, True)
    assert "hunter2" not in repr(broker_entries(broker, None))


def test_what_nobody_knows_is_named_and_may_be_a_secret() -> None:
    broker = BrokerConfig({**STATIC, "my.plugin.password": "hunter2"})
    (entry,) = broker_entries(broker, {"my.plugin.password"})
    assert (entry.value, entry.is_sensitive, entry.read_only) == (None, True, True)
    assert (entry.key.type, entry.source) == (ConfigType.UNKNOWN, ConfigSource.STATIC_BROKER)
    assert "hunter2" not in repr(broker_entries(broker, None))
