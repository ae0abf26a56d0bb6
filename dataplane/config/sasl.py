"""Which SASL mechanisms are served, and whether a listener's settings are enough for them.

What a listener names and cannot have is refused when the settings are read: at the start and when
they change, not at a client's handshake.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from dataplane.config.jaas import JaasEntry, parse_jaas
from dataplane.config.key import ConfigError

if TYPE_CHECKING:
    from dataplane.config.key import Value

PLAIN: Final = "PLAIN"
SCRAM: Final = ("SCRAM-SHA-256", "SCRAM-SHA-512")
SERVED: Final = (PLAIN, *SCRAM)
PLAIN_MODULE: Final = "org.apache.kafka.common.security.plain.PlainLoginModule"
USER_PREFIX: Final = "user_"
MECHANISMS: Final = "sasl.enabled.mechanisms"
JAAS: Final = "sasl.jaas.config"
CALLBACK_HANDLER: Final = "sasl.server.callback.handler.class"


class ListenerSettings(Protocol):
    """The settings of a broker, as far as they are asked for here."""

    listener_overrides: dict[str, Value]

    def for_listener(self, listener: str, key: str) -> Value: ...

    def for_mechanism(self, listener: str, mechanism: str, key: str) -> Value: ...


def enabled_mechanisms(settings: ListenerSettings, listener: str) -> tuple[str, ...]:
    """What `sasl.enabled.mechanisms` names for a listener."""
    enabled = settings.for_listener(listener, MECHANISMS)
    return enabled if isinstance(enabled, tuple) else ()


def jaas_entry(settings: ListenerSettings, listener: str, mechanism: str) -> JaasEntry | None:
    """`listener.name.<listener>.<mechanism>.sasl.jaas.config`. Raises ConfigError."""
    name = _name(listener, mechanism, JAAS)
    text = settings.listener_overrides.get(name)  # a key without the prefixes counts for nobody
    if not isinstance(text, str):
        return None
    try:
        return parse_jaas(text)
    except ValueError as error:
        raise ConfigError(name, "[hidden]", str(error)) from error


def plain_users(settings: ListenerSettings, listener: str) -> dict[str, str]:
    """Passwords by user of a listener's PLAIN, from the options `user_NAME`. Raises ConfigError."""
    entry = jaas_entry(settings, listener, PLAIN)
    key = _name(listener, PLAIN, JAAS)
    if entry is None:
        raise ConfigError(key, "null", f"must be set: {PLAIN} takes its users from there")
    if entry.module != PLAIN_MODULE:
        raise ConfigError(key, "[hidden]", f"the login module must be {PLAIN_MODULE}")
    users = {
        option.removeprefix(USER_PREFIX): password
        for option, password in entry.options.items()
        if option.startswith(USER_PREFIX)
    }
    if not all(users) or not all(users.values()):
        raise ConfigError(key, "[hidden]", "user_NAME needs a name and a password")
    return users


def check_listener(settings: ListenerSettings, listener: str) -> None:
    """Whether every mechanism of a SASL listener can be served. Raises ConfigError."""
    mechanisms = enabled_mechanisms(settings, listener)
    if not mechanisms:
        raise ConfigError(MECHANISMS, "", f"SASL listener {listener} needs a mechanism")
    for mechanism in mechanisms:
        if mechanism not in SERVED:
            raise ConfigError(
                MECHANISMS,
                ",".join(mechanisms),
                f"listener {listener} cannot serve {mechanism}; served are {', '.join(SERVED)}",
            )
        handler = settings.for_mechanism(listener, mechanism, CALLBACK_HANDLER)
        if handler:
            raise ConfigError(
                _name(listener, mechanism, CALLBACK_HANDLER),
                handler,
                "no callback handler of one's own can be loaded here",
            )
    if PLAIN in mechanisms:
        plain_users(settings, listener)


def _name(listener: str, mechanism: str, key: str) -> str:
    return f"listener.name.{listener.lower()}.{mechanism.lower()}.{key}"
