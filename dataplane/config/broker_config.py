"""A broker's settings: parsed, checked against each other, with typed access."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataplane.config.key import ConfigError, ConfigKey, Dynamic
from dataplane.config.keys import (
    coordinators,
    log,
    replication,
    security,
    server,
    without_effect,
    zookeeper,
)
from dataplane.config.listeners import (
    Listener,
    SecurityProtocol,
    parse_listeners,
    parse_protocol_map,
)
from dataplane.config.resolved import ResolvedConfig
from dataplane.config.sasl import check_listener

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataplane.config.key import Value

BROKER_CONFIGS: Final[dict[str, ConfigKey]] = {
    key.name: key
    for group in (without_effect, server, zookeeper, log, replication, coordinators, security)
    for key in group.KEYS
}
"""Every broker key by name."""

BROKER_SYNONYMS: Final[dict[str, tuple[str, ...]]] = log.SYNONYMS
"""Broker key → the keys that say the same in some unit, itself among them, the strongest first."""

_LISTENER_PREFIX = "listener.name."


class BrokerConfig(ResolvedConfig):
    """What a broker runs by. Immutable; dynamic changes make a new one (`with_dynamic`).

    Three layers of text: `static` (the file), `cluster_wide` (dynamic default of all brokers),
    `per_broker` (dynamic, this broker); a later layer wins over an earlier one.
    """

    __slots__ = (
        "advertised_listeners",
        "cluster_wide",
        "inter_broker_listener",
        "listener_overrides",
        "listeners",
        "per_broker",
        "static",
        "unknown",
    )

    def __init__(
        self,
        static: Mapping[str, str],
        cluster_wide: Mapping[str, str] | None = None,
        per_broker: Mapping[str, str] | None = None,
    ) -> None:
        """Raises ConfigError naming the first bad key, its value and what is allowed."""
        self.static = dict(static)
        self.cluster_wide = dict(cluster_wide or {})
        self.per_broker = dict(per_broker or {})
        originals = {**self.static, **self.cluster_wide, **self.per_broker}
        values: dict[str, Value] = {name: key.default for name, key in BROKER_CONFIGS.items()}
        self.listener_overrides: dict[str, Value] = {}
        unknown = []
        for name, text in originals.items():
            key = BROKER_CONFIGS.get(name)
            if key is not None:
                values[name] = key.parse(text)
            elif (scoped := listener_scoped(name)) is not None:
                self.listener_overrides[name] = scoped.parse(text)
            else:
                unknown.append(name)
        self.unknown = tuple(unknown)
        """Unknown keys: to be logged, not applied."""
        super().__init__(values, originals)
        self._resolve_listeners()
        self._check_together()

    @classmethod
    def parse(cls, settings: Mapping[str, str]) -> BrokerConfig:
        """From the text of a properties file. Raises ConfigError."""
        return cls(settings)

    def with_dynamic(
        self, *, cluster_wide: Mapping[str, str], per_broker: Mapping[str, str]
    ) -> BrokerConfig:
        """The same broker under other dynamic settings. Raises ConfigError."""
        return BrokerConfig(self.static, cluster_wide, per_broker)

    def require(self, key: str) -> str:
        """A text setting that must be present. Raises ConfigError."""
        text = self.get_str(key)
        if not text:
            raise ConfigError(key, "null", "must be set")
        return text

    @property
    def broker_id(self) -> int:
        """The configured id, -1 when ZooKeeper is to choose one."""
        chosen = self.get_int("broker.id")
        return chosen if chosen >= 0 else self.get_int("node.id")

    @property
    def log_dirs(self) -> tuple[str, ...]:
        text = self.get_str("log.dirs") or self.get_str("log.dir")
        return tuple(part.strip() for part in text.split(",") if part.strip())

    @property
    def super_users(self) -> tuple[str, ...]:
        """Principals as `Type:name`."""
        users = self.get_str("super.users").split(";")
        return tuple(user.strip() for user in users if user.strip())

    @property
    def is_authorizer_enabled(self) -> bool:
        return bool(self.get_str("authorizer.class.name"))

    def for_listener(self, listener: str, key: str) -> Value:
        """A setting as `listener.name.<listener>.<key>` overrides it."""
        scoped = f"{_LISTENER_PREFIX}{listener.lower()}.{key}"
        return self.listener_overrides.get(scoped, self[key])

    def for_mechanism(self, listener: str, mechanism: str, key: str) -> Value:
        """A setting as `listener.name.<listener>.<mechanism>.<key>` overrides `for_listener`."""
        scoped = f"{_LISTENER_PREFIX}{listener.lower()}.{mechanism.lower()}.{key}"
        found = self.listener_overrides.get(scoped)
        return self.for_listener(listener, key) if found is None else found

    def check_logins(self) -> None:
        """Whether each SASL listener's mechanisms are served and set up. Raises ConfigError."""
        for listener in self.listeners:
            if listener.protocol.uses_sasl:
                check_listener(self, listener.name)

    def listener_named(self, name: str) -> Listener | None:
        return next((item for item in self.listeners if item.name == name.upper()), None)

    def security_protocol(self, listener: str) -> SecurityProtocol | None:
        """The protocol of any mapped listener name, also of other brokers."""
        key = "listener.security.protocol.map"
        return parse_protocol_map(key, self.get_str(key)).get(listener.upper())

    def _resolve_listeners(self) -> None:
        map_key = "listener.security.protocol.map"
        protocols = parse_protocol_map(map_key, self.get_str(map_key))
        self.listeners: tuple[Listener, ...] = parse_listeners(
            "listeners", self.get_str("listeners"), protocols, unique_ports=True
        )
        advertised = self.get_str("advertised.listeners")
        self.advertised_listeners: tuple[Listener, ...] = (
            parse_listeners("advertised.listeners", advertised, protocols, unique_ports=False)
            if advertised
            else self.listeners
        )
        names = [item.name for item in self.listeners]
        for item in self.advertised_listeners:
            if item.name not in names:
                raise ConfigError(
                    "advertised.listeners", advertised, f"{item.name} is not among listeners"
                )
        chosen = self.get_str("inter.broker.listener.name").upper()
        if not chosen:
            chosen = self.get_str("security.inter.broker.protocol")
            names = [item.name for item in self.listeners]
            if chosen not in names and not self.is_set("security.inter.broker.protocol"):
                chosen = names[0]
        elif self.is_set("security.inter.broker.protocol"):
            raise ConfigError(
                "inter.broker.listener.name", chosen, "security.inter.broker.protocol is set too"
            )
        if chosen not in names:
            raise ConfigError(
                "inter.broker.listener.name", chosen, f"must be one of {', '.join(names)}"
            )
        self.inter_broker_listener: str = chosen

    def _check_together(self) -> None:
        checks = (
            ("group.max.session.timeout.ms", "group.min.session.timeout.ms", ">="),
            ("replica.fetch.wait.max.ms", "replica.lag.time.max.ms", "<="),
            *_within("group.consumer", "session.timeout.ms"),
            *_within("group.consumer", "heartbeat.interval.ms"),
        )
        for key, other, relation in checks:
            left, right = self.get_int(key), self.get_int(other)
            if (left < right) if relation == ">=" else (left > right):
                raise ConfigError(key, left, f"must be {relation} {other}, which is {right}")
        self._check_storage()
        highest = self.get_int("reserved.broker.max.id")
        generated = self.get_bool("broker.id.generation.enable")
        if self.broker_id > highest and generated:
            raise ConfigError("broker.id", self.broker_id, f"must be at most {highest}")
        if self.broker_id < 0 and not generated:
            raise ConfigError("broker.id", self.broker_id, "must be at least 0")

    def _check_storage(self) -> None:
        """As Kafka: data is kept for ever (any negative number) or for some time, and compaction
        has memory for a few keys.
        """
        chosen = next(key for key in _RETENTION_KEYS if self[key] is not None)
        if self[chosen] == 0:
            raise ConfigError(chosen, 0, "must be unlimited (-1) or equal or greater than 1")
        threads = self.get_int("log.cleaner.threads")
        buffer_bytes = self.get_int("log.cleaner.dedupe.buffer.size")
        if self.get_bool("log.cleaner.enable") and buffer_bytes <= threads * _DEDUPE_MIN_BYTES:
            raise ConfigError(
                "log.cleaner.dedupe.buffer.size",
                buffer_bytes,
                f"must be more than {_DEDUPE_MIN_BYTES} for each of {threads} cleaner threads",
            )


_DEDUPE_MIN_BYTES = 1024 * 1024
_RETENTION_KEYS = ("log.retention.ms", "log.retention.minutes", "log.retention.hours")


def listener_scoped(name: str) -> ConfigKey | None:
    """The key behind `listener.name.<listener>[.<mechanism>].<key>`, if there is one."""
    if not name.startswith(_LISTENER_PREFIX):
        return None
    rest = name.removeprefix(_LISTENER_PREFIX)
    while "." in rest:
        rest = rest.partition(".")[2]
        if rest in BROKER_CONFIGS:
            return BROKER_CONFIGS[rest]
    return None


def check_dynamic(name: str, text: str | None, *, cluster_wide: bool) -> ConfigKey:
    """Whether a dynamic change of a broker key is allowed; `text` None deletes the override.

    Raises ConfigError for unknown keys, read-only keys, per-broker keys set for all, bad values.
    """
    key = BROKER_CONFIGS.get(name) or listener_scoped(name)
    # A key that nobody knows may be that of a secret, misspelled.
    shown = "[hidden]" if key is None or key.is_sensitive else text
    if key is None:
        raise ConfigError(name, shown, "Unknown broker configuration")
    if key.dynamic is Dynamic.READ_ONLY:
        raise ConfigError(name, shown, "cannot be updated dynamically")
    if cluster_wide and key.dynamic is Dynamic.PER_BROKER and not name.endswith("throttled.rate"):
        raise ConfigError(name, shown, "can only be set for a single broker")
    if text is not None:
        key.parse(text)
    return key


def _within(group: str, name: str) -> tuple[tuple[str, str, str], ...]:
    """`group.name` lies between `group.min.name` and `group.max.name`."""
    least, most = f"{group}.min.{name}", f"{group}.max.{name}"
    return (most, least, ">="), (f"{group}.{name}", least, ">="), (f"{group}.{name}", most, "<=")
