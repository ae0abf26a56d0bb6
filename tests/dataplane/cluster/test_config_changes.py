"""Dynamic configuration: operations, validation, sources and synonyms."""

from __future__ import annotations

import pytest

from dataplane.cluster.config_changes import (
    Change,
    Operation,
    altered,
    changes_from,
    check_broker,
    check_topic,
)
from dataplane.cluster.config_entries import (
    ConfigSource,
    broker_entries,
    default_broker_entries,
    topic_entries,
)
from dataplane.config import TOPIC_CONFIGS, BrokerConfig, TopicConfig
from dataplane.model.errors import ErrorCode, KafkaError

BROKER = BrokerConfig.parse(
    {"broker.id": "1", "zookeeper.connect": "x", "log.retention.ms": "1000"}
)


def apply(present, *changes):
    return altered(present, changes, TOPIC_CONFIGS, check_topic(present, BROKER))


def test_set_and_delete():
    after = apply(
        {"retention.ms": "1", "segment.bytes": "2000"},
        Change("retention.ms", Operation.DELETE, None),
        Change("segment.bytes", Operation.SET, "3000"),
        Change("never.set", Operation.DELETE, None),
    )
    assert after == {"segment.bytes": "3000"}


def test_append_and_subtract_start_from_what_is_in_force():
    policy = "cleanup.policy"
    both = apply({}, Change(policy, Operation.APPEND, "compact"))
    assert both == {policy: "delete,compact"}
    assert apply(both, Change(policy, Operation.APPEND, "compact")) == both
    assert apply(both, Change(policy, Operation.SUBTRACT, "delete")) == {policy: "compact"}
    with pytest.raises(KafkaError) as refused:
        apply({}, Change("retention.ms", Operation.APPEND, "1"))
    assert refused.value.code is ErrorCode.INVALID_CONFIG


@pytest.mark.parametrize(
    "items",
    [
        [("a", 0, "1"), ("a", 1, None)],
        [("a", 0, None)],
        [("a", 2, None)],
        [("a", 9, "1")],
    ],
)
def test_malformed_requests(items):
    with pytest.raises(KafkaError) as refused:
        changes_from(items)
    assert refused.value.code is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    "overrides",
    [
        {"no.such.key": "1"},
        {"retention.ms": "soon"},
        {"min.insync.replicas": "0"},
        {"cleanup.policy": "burn"},
    ],
)
def test_invalid_topic_settings(overrides):
    with pytest.raises(KafkaError) as refused:
        check_topic(overrides, BROKER)
    assert refused.value.code is ErrorCode.INVALID_CONFIG


def test_broker_settings_must_be_dynamic():
    def check(name, text, cluster_wide):
        check_broker(
            [Change(name, Operation.SET, text)], {name: text}, BROKER, cluster_wide=cluster_wide
        )

    check("log.retention.ms", "5", True)
    for name, text in (("broker.id", "4"), ("nonsense", "1"), ("log.retention.ms", "x")):
        with pytest.raises(KafkaError) as refused:
            check(name, text, False)
        assert refused.value.code is ErrorCode.INVALID_CONFIG


def entry(entries, name):
    return next(e for e in entries if e.key.name == name)


def test_a_mechanism_that_is_not_served_is_refused_before_it_is_stored():
    broker = BrokerConfig.parse(
        {
            "listeners": "SASL_PLAINTEXT://127.0.0.1:9092",
            "sasl.enabled.mechanisms": "SCRAM-SHA-256",
        }
    )
    name = "listener.name.sasl_plaintext.sasl.enabled.mechanisms"
    for value, is_fine in (("SCRAM-SHA-512", True), ("SCRAM-SHA-512,GSSAPI", False)):
        change = [Change(name, Operation.SET, value)]
        if is_fine:
            check_broker(change, {name: value}, broker, cluster_wide=False)
            continue
        with pytest.raises(KafkaError) as refused:
            check_broker(change, {name: value}, broker, cluster_wide=False)
        assert refused.value.code is ErrorCode.INVALID_CONFIG
        assert "GSSAPI" in refused.value.message


def test_topic_sources_and_synonyms():
    dynamic = BROKER.with_dynamic(
        cluster_wide={"log.retention.ms": "2000"}, per_broker={"log.retention.ms": "3000"}
    )
    plain = entry(topic_entries(TopicConfig.parse({}, dynamic), dynamic, None), "retention.ms")
    assert (plain.value, plain.source) == ("3000", ConfigSource.DYNAMIC_BROKER)
    config = TopicConfig.parse({"retention.ms": "9"}, dynamic)
    own = entry(topic_entries(config, dynamic, {"retention.ms"}), "retention.ms")
    assert (own.value, own.source) == ("9", ConfigSource.DYNAMIC_TOPIC)
    assert [(s.name, s.value, s.source) for s in own.synonyms][:4] == [
        ("retention.ms", "9", ConfigSource.DYNAMIC_TOPIC),
        ("log.retention.ms", "3000", ConfigSource.DYNAMIC_BROKER),
        ("log.retention.ms", "2000", ConfigSource.DYNAMIC_DEFAULT_BROKER),
        ("log.retention.ms", "1000", ConfigSource.STATIC_BROKER),
    ]
    assert len(topic_entries(config, dynamic, {"retention.ms"})) == 1


def test_broker_sources_secrets_and_read_only():
    entries = broker_entries(
        BrokerConfig.parse(
            {
                "broker.id": "1",
                "zookeeper.connect": "x",
                "penstock.inter.broker.username": "u",
                "penstock.inter.broker.password": "secret",
            }
        ),
        None,
    )
    assert entry(entries, "broker.id").source is ConfigSource.STATIC_BROKER
    assert entry(entries, "broker.id").read_only
    assert entry(entries, "num.partitions").source is ConfigSource.DEFAULT
    password = entry(entries, "penstock.inter.broker.password")
    assert password.value is None
    assert all(s.value is None for s in password.synonyms)
    only = default_broker_entries({"log.retention.ms": "7"}, None)
    assert [(e.key.name, e.value, e.source) for e in only] == [
        ("log.retention.ms", "7", ConfigSource.DYNAMIC_DEFAULT_BROKER)
    ]
