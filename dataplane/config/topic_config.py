"""A topic's settings: overrides of the topic over defaults of the broker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataplane.config.key import ConfigError, ConfigKey
from dataplane.config.keys import topic
from dataplane.config.resolved import ResolvedConfig

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataplane.config.key import Value

TOPIC_CONFIGS: Final[dict[str, ConfigKey]] = {key.name: key for key in topic.KEYS}
"""Every topic key by name."""

TOPIC_SYNONYMS: Final[dict[str, tuple[tuple[str, int], ...]]] = topic.SYNONYMS
"""Topic key → broker keys that hold its default, with factors to the topic's unit."""


_TIERED: Final = (
    "remote.storage.enable",
    "remote.log.copy.disable",
    "remote.log.delete.on.disable",
)


def default_from(key: ConfigKey, broker: Mapping[str, Value] | None) -> Value:
    """What a topic without an override has under these broker settings."""
    for synonym, factor in TOPIC_SYNONYMS.get(key.name, ()):
        value = broker.get(synonym) if broker is not None else None
        if value is None:
            continue
        if factor == 1 or not isinstance(value, int):
            return value
        return value * factor if value >= 0 else -1
    return key.default


class TopicConfig(ResolvedConfig):
    """Settings of one topic; `originals` holds its overrides."""

    __slots__ = ()

    @classmethod
    def parse(
        cls, overrides: Mapping[str, str], broker: Mapping[str, Value] | None = None
    ) -> TopicConfig:
        """Raises ConfigError naming key, value and allowed range; unknown keys are refused."""
        values = {name: default_from(key, broker) for name, key in TOPIC_CONFIGS.items()}
        for name, text in overrides.items():
            values[name] = parse_topic_value(name, text)
        config = cls(values, overrides)
        config.check_together()
        return config

    def check_together(self) -> None:
        """Bounds between keys. Raises ConfigError."""
        least, most = self.get_int("min.compaction.lag.ms"), self.get_int("max.compaction.lag.ms")
        if least > most:
            raise ConfigError(
                "min.compaction.lag.ms", least, f"must be <= max.compaction.lag.ms, which is {most}"
            )
        for key in _TIERED:
            if self.get_bool(key):
                raise ConfigError(key, "true", "there is no tiered storage")


def parse_topic_value(name: str, text: str | None) -> Value:
    """One topic setting. Raises ConfigError."""
    key = TOPIC_CONFIGS.get(name)
    if key is None:
        raise ConfigError(name, text, "Unknown topic config name")
    return key.parse(text)
