"""A consumer group's settings (resource type GROUP): overrides over what the broker has for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataplane.config.key import ConfigError, ConfigKey
from dataplane.config.keys.declare import number
from dataplane.config.resolved import ResolvedConfig

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataplane.config.broker_config import BrokerConfig

SESSION_TIMEOUT: Final = "consumer.session.timeout.ms"
HEARTBEAT_INTERVAL: Final = "consumer.heartbeat.interval.ms"

GROUP_CONFIGS: Final[dict[str, ConfigKey]] = {
    key.name: key
    for key in (
        number(SESSION_TIMEOUT, 45_000, "Session timeout of the group's KIP-848 members.", least=1),
        number(HEARTBEAT_INTERVAL, 5_000, "Heartbeat interval of these.", least=1),
    )
}
"""Every key of groups by name."""


def behind(name: str) -> str:
    """The broker key that holds the default."""
    return f"group.{name}"


def _bound(name: str, which: str) -> str:
    return f"group.{name.replace('consumer.', f'consumer.{which}.', 1)}"


class GroupConfig(ResolvedConfig):
    """Settings of one group; `originals` holds its overrides."""

    __slots__ = ()

    @classmethod
    def parse(cls, overrides: Mapping[str, str], broker: BrokerConfig) -> GroupConfig:
        """Raises ConfigError for unknown keys, and outside of the bounds that the broker sets."""
        values = {name: broker[behind(name)] for name in GROUP_CONFIGS}
        for name, text in overrides.items():
            key = GROUP_CONFIGS.get(name)
            if key is None:
                raise ConfigError(name, text, "Unknown group config name")
            values[name] = key.parse(text)
        config = cls(values, overrides)
        config._check_bounds(broker)
        return config

    def _check_bounds(self, broker: BrokerConfig) -> None:
        for name in self.originals:
            value = self.get_int(name)
            least, most = _bound(name, "min"), _bound(name, "max")
            if value < broker.get_int(least):
                raise ConfigError(name, value, f"must be greater than or equal to {least}")
            if value > broker.get_int(most):
                raise ConfigError(name, value, f"must be less than or equal to {most}")
        interval_ms = self.get_int(HEARTBEAT_INTERVAL)
        if self.originals and self.get_int(SESSION_TIMEOUT) <= interval_ms:
            raise ConfigError(
                SESSION_TIMEOUT,
                self.get_int(SESSION_TIMEOUT),
                f"must be greater than {HEARTBEAT_INTERVAL}",
            )
