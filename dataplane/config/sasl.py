"""Which SASL mechanisms are served, and whether a listener's settings are enough for them.

What a listener names and cannot have is refused when the settings are read: at the start and when
they change, not at a client's handshake.
"""

from __future__ import annotations

import urllib.parse
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from dataplane.config.jaas import JaasEntry, parse_jaas
from dataplane.config.key import ConfigError

if TYPE_CHECKING:
    from dataplane.config.key import Value

PLAIN: Final = "PLAIN"
SCRAM: Final = ("SCRAM-SHA-256", "SCRAM-SHA-512")
OAUTHBEARER: Final = "OAUTHBEARER"
SERVED: Final = (PLAIN, *SCRAM, OAUTHBEARER)
PLAIN_MODULE: Final = "org.apache.kafka.common.security.plain.PlainLoginModule"
USER_PREFIX: Final = "user_"
MECHANISMS: Final = "sasl.enabled.mechanisms"
JAAS: Final = "sasl.jaas.config"
CALLBACK_HANDLER: Final = "sasl.server.callback.handler.class"


REFRESH_MS_MIN: Final = 1_000
RETRY_MS_MIN: Final = 100
LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
_HANDLERS: Final = "org.apache.kafka.common.security.oauthbearer."
SECURED_HANDLERS: Final = (
    f"{_HANDLERS}OAuthBearerValidatorCallbackHandler",
    f"{_HANDLERS}secured.OAuthBearerValidatorCallbackHandler",
)
UNSECURED_HANDLERS: Final = (
    f"{_HANDLERS}internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler",
)


class TokenSettings(NamedTuple):
    """What OAUTHBEARER goes by. `jwks_url` None: unsigned tokens, which were asked for by name."""

    jwks_url: str | None
    options: dict[str, str]
    audiences: frozenset[str]
    issuer: str | None
    scope_claim: str
    subject_claim: str
    clock_skew_ms: int
    refresh_ms: int
    retry_ms: int
    retry_ms_max: int


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


def token_settings(settings: ListenerSettings, listener: str) -> TokenSettings:
    """What a listener's OAUTHBEARER goes by. Raises ConfigError."""

    def get(key: str) -> Value:
        return settings.for_mechanism(listener, OAUTHBEARER, f"sasl.oauthbearer.{key}")

    entry = jaas_entry(settings, listener, OAUTHBEARER)
    handler = settings.for_mechanism(listener, OAUTHBEARER, CALLBACK_HANDLER)
    url = get("jwks.endpoint.url")
    is_unsecured = handler in UNSECURED_HANDLERS
    if not is_unsecured:
        _check_url(url)
    audiences, issuer = get("expected.audience"), get("expected.issuer")
    return TokenSettings(
        jwks_url=None if is_unsecured else str(url),
        options=entry.options if entry is not None else {},
        audiences=frozenset(audiences) if isinstance(audiences, tuple) else frozenset(),
        issuer=str(issuer) if issuer else None,
        scope_claim=str(get("scope.claim.name")),
        subject_claim=str(get("sub.claim.name")),
        clock_skew_ms=1000 * _whole(get("clock.skew.seconds"), 0),
        refresh_ms=_whole(get("jwks.endpoint.refresh.ms"), REFRESH_MS_MIN),
        retry_ms=_whole(get("jwks.endpoint.retry.backoff.ms"), RETRY_MS_MIN),
        retry_ms_max=_whole(get("jwks.endpoint.retry.backoff.max.ms"), RETRY_MS_MIN),
    )


def _check_url(url: Value) -> None:
    """Keys come by a way that nobody can change: TLS, a file, or this machine itself."""
    key = "sasl.oauthbearer.jwks.endpoint.url"
    if not isinstance(url, str) or not url:
        raise ConfigError(key, "null", f"must be set: {OAUTHBEARER} checks tokens by its keys")
    try:
        parts = urllib.parse.urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError(key, url, str(error)) from error
    is_fine = (
        (parts.scheme == "file" and parts.path and host in (None, "localhost"))
        or (parts.scheme == "https" and host)
        or (parts.scheme == "http" and host in LOOPBACK)
    )
    if not is_fine:
        raise ConfigError(key, url, "must be https://…, file:///…, or http:// on loopback")


def _whole(value: Value, least: int) -> int:
    """Kafka bounds none of these numbers: one that is too small counts as the least useful one."""
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is no number")
    return max(value, least)


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
        if handler and mechanism != OAUTHBEARER:
            raise ConfigError(
                _name(listener, mechanism, CALLBACK_HANDLER),
                handler,
                "no callback handler of one's own can be loaded here",
            )
    if PLAIN in mechanisms:
        plain_users(settings, listener)
    if OAUTHBEARER in mechanisms:
        token_settings(settings, listener)


def _name(listener: str, mechanism: str, key: str) -> str:
    return f"listener.name.{listener.lower()}.{mechanism.lower()}.{key}"
