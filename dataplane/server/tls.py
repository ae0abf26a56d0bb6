"""TLS contexts from Kafka's `ssl.*` keys. PEM only: Java key stores are refused by name.

A key or certificate that is replaced on disk is served without a restart: new handshakes take it,
open connections go on. Authorities that are added count at once; one that is taken away counts
until the broker starts again.
"""

from __future__ import annotations

import logging
import ssl
from pathlib import Path
from typing import TYPE_CHECKING

from dataplane.config.key import ConfigError
from dataplane.security.principal_mapping import PrincipalMapping

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.config import BrokerConfig

    _Make = Callable[[BrokerConfig, str], ssl.SSLContext]

_log = logging.getLogger(__name__)

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_CLIENT_AUTH = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}
_Mark = tuple[tuple[str, int, int, int], ...]
"""Of each file: its path, time of change, inode and size."""


class TlsContexts:
    """The contexts of one broker, by listener and for its peers; they follow their files."""

    def __init__(self, config: BrokerConfig) -> None:
        self._config = config
        # Listener, "" for connections to peers; the files that were read, as they were then.
        self._made: dict[str, tuple[ssl.SSLContext, _Mark]] = {}

    def server(self, listener: str) -> ssl.SSLContext:
        """For a listener, by its own settings where it has some. ConfigError names a wrong key."""
        return self._make(listener, server_context)

    def client(self) -> ssl.SSLContext:
        """For connections to other brokers. ConfigError names a wrong key."""
        return self._make(self._config.inter_broker_listener, client_context, name="")

    def follow(self, config: BrokerConfig | None = None) -> int:
        """Serve what stands on disk now; how many contexts have changed.

        Files that cannot be used leave what is served as it is, and are looked at again when they
        change. `config` names other files than before.
        """
        self._config = config or self._config
        changed = 0
        for name, (context, mark) in self._made.items():
            listener = name or self._config.inter_broker_listener
            now = _mark(self._config, listener)
            if now == mark:
                continue
            self._made[name] = context, now
            try:
                # Into another one first: a key that fails half-way must not stay in the one served.
                (server_context if name else client_context)(self._config, listener)
                _load_files(context, self._config, listener)
            except ConfigError as error:
                _log.error("%s; what was served goes on being served", error)
            else:
                changed += 1
                _log.info("listener %s serves the renewed certificate", listener)
        return changed

    def _make(self, listener: str, make: _Make, *, name: str | None = None) -> ssl.SSLContext:
        mark = _mark(self._config, listener)
        context = make(self._config, listener)
        self._made[listener if name is None else name] = context, mark
        return context


def server_context(config: BrokerConfig, listener: str) -> ssl.SSLContext:
    """For a listener. ConfigError names the key that is wrong."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    _apply_versions(context, config, listener)
    context.verify_mode = _CLIENT_AUTH[_client_auth(config, listener)]
    _load_files(context, config, listener)
    return context


def principal_mapping(config: BrokerConfig, listener: str) -> PrincipalMapping:
    """The rules of a listener. ConfigError names what is wrong with them."""
    key = "ssl.principal.mapping.rules"
    rules = _text(config, listener, key)
    try:
        return PrincipalMapping(rules)
    except ValueError as error:
        raise ConfigError(key, rules, str(error)) from error


def _client_auth(config: BrokerConfig, listener: str) -> str:
    """Under SASL_SSL only the listener's own setting counts, as in Kafka (KIP-684)."""
    key = "ssl.client.auth"
    setting = config.listener_named(listener)
    if setting is not None and setting.protocol.uses_sasl:
        own = config.listener_overrides.get(f"listener.name.{listener.lower()}.{key}")
        return own if isinstance(own, str) else "none"
    return _text(config, listener, key)


def client_context(config: BrokerConfig, listener: str) -> ssl.SSLContext:
    """For connections to other brokers' `listener`. ConfigError names the key that is wrong."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _apply_versions(context, config, listener)
    algorithm = _text(config, listener, "ssl.endpoint.identification.algorithm")
    context.check_hostname = bool(algorithm)
    _load_files(context, config, listener)
    return context


def _load_files(context: ssl.SSLContext, config: BrokerConfig, listener: str) -> None:
    """A server shows a certificate; who asks the other side for one needs somebody to trust."""
    is_server = context.protocol is ssl.PROTOCOL_TLS_SERVER
    if is_server or _text(config, listener, "ssl.keystore.location"):
        _load_key(context, config, listener)
    if context.verify_mode is not ssl.CERT_NONE:
        _load_trust(context, config, listener)


def _apply_versions(context: ssl.SSLContext, config: BrokerConfig, listener: str) -> None:
    wanted = config.for_listener(listener, "ssl.enabled.protocols")
    names = list(wanted) if isinstance(wanted, tuple | list) else []
    versions = [_VERSIONS[name] for name in names if name in _VERSIONS]
    if not versions:
        raise ConfigError(
            "ssl.enabled.protocols",
            ",".join(names),
            f"at least one of {', '.join(_VERSIONS)} is needed",
        )
    context.minimum_version, context.maximum_version = min(versions), max(versions)


def _load_key(context: ssl.SSLContext, config: BrokerConfig, listener: str) -> None:
    _require_pem(config, listener, "ssl.keystore.type")
    location = _text(config, listener, "ssl.keystore.location")
    password = _text(config, listener, "ssl.key.password") or None
    try:
        context.load_cert_chain(location, password=password)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError("ssl.keystore.location", location, str(error)) from error


def _load_trust(context: ssl.SSLContext, config: BrokerConfig, listener: str) -> None:
    location = _text(config, listener, "ssl.truststore.location")
    if not location:
        context.load_default_certs()
        return
    _require_pem(config, listener, "ssl.truststore.type")
    try:
        context.load_verify_locations(location)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError("ssl.truststore.location", location, str(error)) from error


def _require_pem(config: BrokerConfig, listener: str, key: str) -> None:
    found = _text(config, listener, key)
    if found.upper() != "PEM":
        raise ConfigError(key, found, "only PEM is served")


def _text(config: BrokerConfig, listener: str, key: str) -> str:
    value = config.for_listener(listener, key)
    return value if isinstance(value, str) else ""


def _mark(config: BrokerConfig, listener: str) -> _Mark:
    """Which files a context is made of, and how they are now; a missing one is a state too."""
    found = []
    for key in ("ssl.keystore.location", "ssl.truststore.location"):
        location = _text(config, listener, key)
        try:
            stat = Path(location).stat() if location else None
        except OSError:
            stat = None
        marks = (stat.st_mtime_ns, stat.st_ino, stat.st_size) if stat else (0, 0, 0)
        found.append((location, *marks))
    return tuple(found)
