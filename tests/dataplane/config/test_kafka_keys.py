"""Every key of Kafka 3.9 is known as Kafka knows it; the facts are of Kafka's own classes."""

from __future__ import annotations

import importlib
import json
import math
import pathlib
import pkgutil
import re
from collections import Counter
from typing import Any

import pytest

from dataplane.config import (
    BROKER_CONFIGS,
    BROKER_SYNONYMS,
    TOPIC_CONFIGS,
    BrokerConfig,
    ConfigError,
    ConfigKey,
    ConfigType,
    TopicConfig,
    keys,
)
from dataplane.config.key import WITHOUT_EFFECT
from dataplane.config.keys.versions import VERSIONS, full_version

FACTS: dict[str, dict[str, dict[str, Any]]] = json.loads(
    (pathlib.Path(__file__).parent / "kafka_keys.json").read_text()
)
KEYS = [
    pytest.param(registry.get(name), facts, id=f"{kind}-{name}")
    for kind, registry in (("broker", BROKER_CONFIGS), ("topic", TOPIC_CONFIGS))
    for name, facts in FACTS[kind].items()
]
BASE = {"broker.id": "1", "zookeeper.connect": "x"}
OTHER_DEFAULTS = {
    "group.consumer.migration.policy",
    "group.coordinator.rebalance.protocols",
    "replica.socket.receive.buffer.bytes",
    "socket.listen.backlog.size",
    "socket.receive.buffer.bytes",
    "socket.send.buffer.bytes",
}
"""The system's autotuning of buffers, a longer backlog, and groups as Kafka 4 has them: their sentences
say so."""
OTHER_CHANGES = {"principal.builder.class"}
NARROWER = {"group.coordinator.rebalance.protocols", "inter.broker.protocol.version"}
"""Kafka refuses the other protocols of groups later, when it starts; of those among brokers only
those are spoken that this release knows."""


def test_there_are_as_many_as_kafka_has() -> None:
    assert len(FACTS["broker"]) == 328
    assert set(FACTS["broker"]) - set(BROKER_CONFIGS) == set()
    assert set(FACTS["topic"]) == set(TOPIC_CONFIGS)


def test_no_key_is_declared_twice() -> None:
    """What gets an effect is taken out of `keys/without_effect.py`."""
    modules = (
        importlib.import_module(f"dataplane.config.keys.{module.name}")
        for module in pkgutil.iter_modules(keys.__path__)
        if module.name != "topic"
    )
    names = Counter(key.name for module in modules for key in getattr(module, "KEYS", ()))
    assert [name for name, count in names.items() if count > 1] == []
    assert names.keys() >= BROKER_CONFIGS.keys()


def test_what_is_not_kafkas_is_ours_or_dynamic_or_the_authorizers() -> None:
    others = set(BROKER_CONFIGS) - set(FACTS["broker"])
    assert {name for name in others if not name.startswith("penstock.")} == {
        "allow.everyone.if.no.acl.found",
        "follower.replication.throttled.rate",
        "group.consumer.regex.refresh.interval.ms",  # of Kafka 4
        "leader.replication.throttled.rate",
        "replica.alter.log.dirs.io.max.bytes.per.second",
        "super.users",
    }


@pytest.mark.parametrize(("key", "facts"), KEYS)
def test_type_default_and_change_are_kafkas(key: ConfigKey, facts: dict[str, Any]) -> None:
    assert key.type.name == facts["type"]
    if key.name not in OTHER_DEFAULTS:
        assert key.format(key.default) == facts["default"]
    if "changes" in facts and key.name not in OTHER_CHANGES:
        assert key.dynamic.value == facts["changes"]
    assert key.is_internal == facts["internal"]
    assert key.is_sensitive == (facts["type"] == "PASSWORD")


@pytest.mark.parametrize(
    ("key", "facts"), [case for case in KEYS if (case.values[1]["allowed"] or "")[:1] == "["]
)
def test_bounds_and_choices_are_kafkas(key: ConfigKey, facts: dict[str, Any]) -> None:
    bounds = re.fullmatch(r"\[(-?[\d.]+),\.\.\.(?:,([\d.]+))?\](?: or (-1))?", facts["allowed"])
    if bounds is None:
        choices = facts["allowed"].strip("[]").split(", ")
        for choice in choices:
            if key.name in NARROWER | {"process.roles"} or "partitionId" in choice:
                continue
            assert key.format(key.parse(choice)) == choice
        if key.name not in NARROWER:
            with pytest.raises(ConfigError):
                key.parse("nonesuch")
        return
    lowest, highest = float(bounds[3] or bounds[1]), float(bounds[2] or math.inf)
    low, high = key.bounds
    assert low == lowest
    assert key.highest == highest or high < 2**31 <= highest
    for beyond in (lowest - 1, highest + 1):
        if math.isfinite(beyond):
            with pytest.raises(ConfigError):
                key.parse(str(beyond if key.type is ConfigType.DOUBLE else int(beyond)))


@pytest.mark.parametrize(("key", "facts"), KEYS)
def test_what_kafka_takes_by_default_is_taken_when_it_is_written(
    key: ConfigKey, facts: dict[str, Any]
) -> None:
    if facts["default"] is not None and facts["allowed"] != "non-empty list":
        assert key.format(key.parse(facts["default"])) == facts["default"]


def test_synonyms_are_kafkas() -> None:
    assert {
        name: tuple(facts["synonyms"])
        for name, facts in FACTS["broker"].items()
        if len(facts["synonyms"]) > 1
    } == BROKER_SYNONYMS


def test_a_broker_starts_with_every_default_of_kafkas_written_down() -> None:
    settings = {
        name: facts["default"]
        for name, facts in FACTS["broker"].items()
        if facts["default"] is not None and facts["allowed"] != "non-empty list"
    }
    # As in Kafka: one of the two names the listener among brokers.
    config = BrokerConfig.parse({**settings, **BASE})
    assert config.unknown == ()
    topic = {name: facts["default"] for name, facts in FACTS["topic"].items()}
    assert TopicConfig.parse(topic, config).originals == topic


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("process.roles", "broker"),
        ("zookeeper.metadata.migration.enable", "true"),
        ("remote.log.storage.system.enable", "true"),
        ("create.topic.policy.class.name", "com.example.Policy"),
        ("alter.config.policy.class.name", "com.example.Policy"),
        ("client.quota.callback.class", "com.example.Quotas"),
        ("sasl.server.callback.handler.class", "com.example.Login"),
        ("ssl.engine.factory.class", "com.example.Engine"),
    ],
)
def test_what_would_do_harm_if_it_were_ignored_is_refused(name: str, text: str) -> None:
    with pytest.raises(ConfigError, match=f"{name}: not supported; must stay unset"):
        BrokerConfig.parse({**BASE, name: text})


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("inter.broker.protocol.version", "3.99", "must be a version of Kafka"),
        ("log.message.format.version", "9.9-IV1", "must be a version of Kafka"),
        ("controller.quorum.voters", "", "must not be empty"),
        ("group.consumer.migration.policy", "sideways", "must be one of disabled"),
        ("remote.log.manager.copier.thread.pool.size", "0", "must be -1"),
        ("group.share.max.groups", "101", "at least 1 and at most 100"),
        ("offsets.topic.replication.factor", "40000", "Not a number of type SHORT"),
    ],
)
def test_keys_without_effect_are_checked(name: str, text: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        BrokerConfig.parse({**BASE, name: text})


def test_sentences_say_what_is_without_effect() -> None:
    idle = {key.name for key in BROKER_CONFIGS.values() if not key.has_effect}
    assert {"process.roles", "num.io.threads", "group.share.max.groups"} <= idle
    assert not {"log.dirs", "min.insync.replicas"} & idle
    for name in idle:
        assert len(BROKER_CONFIGS[name].doc) > len(WITHOUT_EFFECT)
    assert all(key.doc for key in (*BROKER_CONFIGS.values(), *TOPIC_CONFIGS.values()))


def test_versions_of_kafka_are_read_short_and_in_full() -> None:
    allowed = FACTS["broker"]["inter.broker.protocol.version"]["allowed"]
    assert allowed.strip("[]").split(", ") == list(VERSIONS)
    assert [full_version(text) for text in ("3.9.1", "3.0", "0.10.0", "0.9.0.1", "0.8.2")] == [
        *("3.9-IV0", "3.0-IV1", "0.10.0-IV1", "0.9.0", "0.8.2")
    ]
    assert [full_version(text) for text in ("", "3", "9.9", "3.9-IV7", "0.9")] == [None] * 5
