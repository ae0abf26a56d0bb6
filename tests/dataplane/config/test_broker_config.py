"""Broker settings: types, bounds, listeners, layers."""

from __future__ import annotations

import pytest

from dataplane.config import BROKER_CONFIGS, BrokerConfig, ConfigError, check_dynamic
from dataplane.config.listeners import SecurityProtocol

LISTENERS = {
    "listeners": "CLIENT://127.0.0.1:19092,PEERS://[::1]:19093",
    "listener.security.protocol.map": "CLIENT:SASL_PLAINTEXT,PEERS:PLAINTEXT",
    "inter.broker.listener.name": "peers",
}


def test_every_default_is_a_legal_value() -> None:
    for key in BROKER_CONFIGS.values():
        # Of what must not be empty Kafka has an empty default too.
        if key.default is not None and not key.name.startswith("controller.quorum."):
            assert key.parse(key.format(key.default)) == key.default


def test_typed_access() -> None:
    config = BrokerConfig.parse({"num.partitions": " 3 ", "log.dirs": "/a, /b"})
    assert config.get_int("num.partitions") == 3
    assert config.log_dirs == ("/a", "/b")
    assert config["auto.create.topics.enable"] is True
    assert config.is_set("num.partitions")
    assert not config.is_set("auto.create.topics.enable")
    with pytest.raises(TypeError):
        config.get_int("auto.create.topics.enable")
    with pytest.raises(KeyError):
        config.get_int("no.such.key")


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"num.partitions": "0"}, "num.partitions"),
        ({"num.partitions": "99999999999"}, "num.partitions"),
        ({"num.partitions": "1_0"}, "num.partitions"),
        ({"min.insync.replicas": "x"}, "min.insync.replicas"),
        ({"log.cleanup.policy": "delete,nothing"}, "log.cleanup.policy"),
        ({"auto.create.topics.enable": "yes"}, "auto.create.topics.enable"),
        ({"log.cleaner.min.cleanable.ratio": "1.5"}, "log.cleaner.min.cleanable.ratio"),
        ({"log.cleaner.min.cleanable.ratio": "nan"}, "log.cleaner.min.cleanable.ratio"),
        ({"listeners": "PLAINTEXT://h:1,PLAINTEXT://h:2"}, "listeners"),
        ({"listeners": "PLAINTEXT://h:1,SSL://h:1"}, "listeners"),
        ({"listeners": "PLAINTEXT://h:70000"}, "listeners"),
        ({"listeners": ""}, "listeners"),
        ({"listeners": "NOBODY://h:1"}, "listeners"),
        ({"advertised.listeners": "SSL://h:1"}, "advertised.listeners"),
        ({"inter.broker.listener.name": "SSL"}, "inter.broker.listener.name"),
        ({"listener.security.protocol.map": "A:TLS"}, "listener.security.protocol.map"),
        ({"group.max.session.timeout.ms": "10"}, "group.max.session.timeout.ms"),
        ({"group.consumer.session.timeout.ms": "10"}, "group.consumer.session.timeout.ms"),
        ({"group.consumer.heartbeat.interval.ms": "16000"}, "group.consumer.heartbeat.interval.ms"),
        ({"broker.id": "1001"}, "broker.id"),
    ],
)
def test_a_bad_value_is_refused_by_name(settings: dict[str, str], named: str) -> None:
    with pytest.raises(ConfigError) as refused:
        BrokerConfig.parse(settings)
    assert refused.value.key == named
    assert named in str(refused.value)


def test_a_secret_is_not_shown_when_refused() -> None:
    key = BROKER_CONFIGS["penstock.inter.broker.password"]
    assert key.is_sensitive
    assert key.parse("s3cret") == "s3cret"


def test_listeners_are_resolved() -> None:
    config = BrokerConfig.parse(LISTENERS)
    assert [str(item) for item in config.listeners] == [
        "CLIENT://127.0.0.1:19092",
        "PEERS://[::1]:19093",
    ]
    assert config.inter_broker_listener == "PEERS"
    assert config.advertised_listeners == config.listeners
    client = config.listener_named("client")
    assert client is not None
    assert client.protocol is SecurityProtocol.SASL_PLAINTEXT
    assert not client.protocol.uses_tls


def test_a_listener_can_override_a_key() -> None:
    scoped = {
        "listener.name.client.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.client.scram-sha-256.sasl.jaas.config": "x",
    }
    config = BrokerConfig.parse({**LISTENERS, **scoped, "what.is.this": "1"})
    assert config.for_listener("CLIENT", "sasl.enabled.mechanisms") == ("PLAIN",)
    assert config.for_listener("PEERS", "sasl.enabled.mechanisms") == ("GSSAPI",)
    assert config.unknown == ("what.is.this",)


def test_dynamic_layers_win_over_the_file() -> None:
    config = BrokerConfig.parse({"message.max.bytes": "10", "log.retention.ms": "7"})
    changed = config.with_dynamic(
        cluster_wide={"message.max.bytes": "20", "log.retention.ms": "8"},
        per_broker={"message.max.bytes": "30"},
    )
    assert changed.get_int("message.max.bytes") == 30
    assert changed.get_int("log.retention.ms") == 8
    assert config.get_int("message.max.bytes") == 10
    back = changed.with_dynamic(cluster_wide={}, per_broker={})
    assert back.get_int("message.max.bytes") == 10


def test_only_dynamic_keys_can_be_changed() -> None:
    assert check_dynamic("message.max.bytes", "9", cluster_wide=True).name == "message.max.bytes"
    for name, text, everywhere in [
        ("broker.id", "2", False),
        ("no.such.key", "2", False),
        ("message.max.bytes", "-1", True),
        ("listeners", "PLAINTEXT://:1", True),
    ]:
        with pytest.raises(ConfigError):
            check_dynamic(name, text, cluster_wide=everywhere)
    check_dynamic("message.max.bytes", None, cluster_wide=False)
    check_dynamic("leader.replication.throttled.rate", "1000", cluster_wide=True)
