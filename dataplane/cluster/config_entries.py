"""DescribeConfigs: each key's value, where it comes from, and what it would be without.

Sources and synonyms are Kafka's: a topic's own override, then the broker keys that hold its
default, each through the layers per-broker dynamic, cluster-wide dynamic, static file, built-in.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from dataplane.config import (
    BROKER_CONFIGS,
    BROKER_SYNONYMS,
    GROUP_CONFIGS,
    TOPIC_CONFIGS,
    TOPIC_SYNONYMS,
    BrokerConfig,
    ConfigKey,
    ConfigType,
    TopicConfig,
    listener_scoped,
)
from dataplane.config.group_config import behind

if TYPE_CHECKING:
    from collections.abc import Container


class ConfigSource(enum.IntEnum):
    """The numbers of DescribeConfigs."""

    DYNAMIC_TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_BROKER_LOGGER = 6
    DYNAMIC_GROUP = 8


@dataclasses.dataclass(frozen=True, slots=True)
class Synonym:
    """One layer that has a value for a key, or for the key that holds its default."""

    name: str
    value: str | None
    source: ConfigSource


@dataclasses.dataclass(frozen=True, slots=True)
class ConfigEntry:
    """One key. A sensitive key's values are None. `synonyms` begin with the one in force."""

    key: ConfigKey
    value: str | None
    source: ConfigSource
    read_only: bool
    synonyms: tuple[Synonym, ...]
    is_sensitive: bool = False


def topic_entries(
    config: TopicConfig, broker: BrokerConfig, wanted: Container[str] | None
) -> list[ConfigEntry]:
    """A topic's settings; `wanted` None asks for all keys."""
    entries = []
    for name, key in TOPIC_CONFIGS.items():
        if not _is_shown(key, config.originals, wanted):
            continue
        synonyms: list[Synonym] = []
        if name in config.originals:
            text = config.originals[name]
            synonyms.append(Synonym(name, text, ConfigSource.DYNAMIC_TOPIC))
        behind = [broker_name for broker_name, _factor in TOPIC_SYNONYMS.get(name, ())]
        synonyms.extend(_layers(behind, broker))
        entries.append(_entry(key, key.format(config[name]), synonyms, read_only=False))
    return entries


def group_entries(
    overrides: Mapping[str, str], broker: BrokerConfig, wanted: Container[str] | None
) -> list[ConfigEntry]:
    """A group's settings, whether or not there is such a group."""
    entries = []
    for name, key in GROUP_CONFIGS.items():
        if not _is_shown(key, overrides, wanted):
            continue
        text = overrides.get(name)
        own = [] if text is None else [Synonym(name, text, ConfigSource.DYNAMIC_GROUP)]
        synonyms = [*own, *_layers([behind(name)], broker)]
        entries.append(_entry(key, synonyms[0].value, synonyms, read_only=False))
    return entries


def broker_entries(broker: BrokerConfig, wanted: Container[str] | None) -> list[ConfigEntry]:
    """One broker's settings, and what else stands in its file.

    As in Kafka what is unknown has no type, and may be a secret: its value is not shown.
    """
    entries = [
        _entry(key, key.format(broker[name]), _broker_layers(name, broker), key.is_read_only)
        for name, key in BROKER_CONFIGS.items()
        if _is_shown(key, broker.originals, wanted)
    ]
    others = (*broker.listener_overrides, *broker.unknown)
    entries += [_other_entry(name, broker) for name in others if wanted is None or name in wanted]
    return entries


def _other_entry(name: str, broker: BrokerConfig) -> ConfigEntry:
    """What is no key by itself: one for a listener alone, or one that nobody knows."""
    layers = [
        Synonym(name, settings[name], source)
        for settings, source in _settings(broker)
        if name in settings
    ]
    scoped = listener_scoped(name)
    if scoped is not None:
        key = dataclasses.replace(scoped, name=name)
        value = key.format(broker.listener_overrides[name])
        return _entry(key, value, layers, key.is_read_only)
    hidden = [dataclasses.replace(layer, value=None) for layer in layers]
    entry = _entry(ConfigKey(name, ConfigType.UNKNOWN, None, ""), None, hidden, read_only=True)
    return dataclasses.replace(entry, is_sensitive=True)


def default_broker_entries(
    overrides: Mapping[str, str], wanted: Container[str] | None
) -> list[ConfigEntry]:
    """What is set for all brokers dynamically."""
    return [
        _entry(
            BROKER_CONFIGS[name],
            text,
            [Synonym(name, text, ConfigSource.DYNAMIC_DEFAULT_BROKER)],
            read_only=False,
        )
        for name, text in overrides.items()
        if name in BROKER_CONFIGS and (wanted is None or name in wanted)
    ]


def _is_shown(key: ConfigKey, originals: Mapping[str, str], wanted: Container[str] | None) -> bool:
    """As in Kafka: what is internal only where it is set, and of the rest what is asked for."""
    if key.is_internal and key.name not in originals:
        return False
    return wanted is None or key.name in wanted


def _broker_layers(name: str, broker: BrokerConfig) -> list[Synonym]:
    return list(_layers(BROKER_SYNONYMS.get(name, (name,)), broker))


def _settings(broker: BrokerConfig) -> tuple[tuple[Mapping[str, str], ConfigSource], ...]:
    """What was set, the strongest layer first."""
    return (
        (broker.per_broker, ConfigSource.DYNAMIC_BROKER),
        (broker.cluster_wide, ConfigSource.DYNAMIC_DEFAULT_BROKER),
        (broker.static, ConfigSource.STATIC_BROKER),
    )


def _layers(names: Sequence[str], broker: BrokerConfig) -> Iterable[Synonym]:
    """Layer by layer, and in each the names that it has, the strongest first."""
    for settings, source in _settings(broker):
        for name in names:
            if name in settings:
                yield Synonym(name, settings[name], source)
    for name in names:
        key = BROKER_CONFIGS[name]
        if key.default is not None:
            yield Synonym(name, key.format(key.default), ConfigSource.DEFAULT)


def _entry(
    key: ConfigKey, value: str | None, synonyms: list[Synonym], read_only: bool
) -> ConfigEntry:
    source = synonyms[0].source if synonyms else ConfigSource.DEFAULT
    if key.is_sensitive:
        value = None
        synonyms = [dataclasses.replace(synonym, value=None) for synonym in synonyms]
    return ConfigEntry(key, value, source, read_only, tuple(synonyms), key.is_sensitive)
