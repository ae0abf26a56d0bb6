"""TLS contexts from Kafka's `ssl.*` keys. PEM only: Java key stores are refused by name.

Files and settings that change are served without a restart: new handshakes are made with a new
context, open connections go on. What cannot be used leaves what is served as it is.
"""

from __future__ import annotations

import contextlib
import logging
import os
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from dataplane.config.key import ConfigError
from dataplane.security.certificate import CertificateError, not_after_ms
from dataplane.security.principal_mapping import PrincipalMapping
from dataplane.server import cipher_suites

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dataplane.config import BrokerConfig

_log = logging.getLogger(__name__)

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_TOO_OLD = frozenset({"SSLv2Hello", "SSLv3", "TLSv1", "TLSv1.1"})
"""Known to Java and turned off there as well."""
_PROTOCOLS = frozenset({"TLS", *_VERSIONS})
_CLIENT_AUTH = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}
_SETTINGS: Final = (
    "ssl.client.auth",
    "ssl.keystore.type",
    "ssl.keystore.location",
    "ssl.keystore.key",
    "ssl.keystore.certificate.chain",
    "ssl.key.password",
    "ssl.truststore.type",
    "ssl.truststore.location",
    "ssl.truststore.certificates",
    "ssl.protocol",
    "ssl.enabled.protocols",
    "ssl.cipher.suites",
    "ssl.endpoint.identification.algorithm",
)
_PEERS = ""
"""Among the names of listeners: the connections that this broker opens."""


class _Made(NamedTuple):
    """A context, what it was made of, and when its certificate ends; None: it shows none."""

    context: ssl.SSLContext
    sources: tuple[object, ...]
    not_after_ms: int | None


class TlsContexts:
    """The contexts of one broker, by listener and for its peers; they follow their sources."""

    def __init__(self, config: BrokerConfig) -> None:
        self._config = config
        self._made: dict[str, _Made] = {}
        self._refused: dict[str, tuple[object, ...]] = {}  # sources that could not be used

    def server(self, listener: str) -> ssl.SSLContext:
        """What new connections to a listener are served with. ConfigError names a wrong key."""
        return self._present(listener)

    def client(self) -> ssl.SSLContext:
        """What new connections to other brokers are made with. ConfigError names a wrong key."""
        return self._present(_PEERS)

    def check(self, config: BrokerConfig) -> None:
        """Whether what is served could be served under these settings. ConfigError."""
        for name in self._made:
            _make(config, name)

    def follow(self, config: BrokerConfig | None = None) -> int:
        """Serve what stands on disk now, by the settings now; how many contexts have changed.

        What cannot be used is said once, and tried again when it changes.
        """
        self._config = config or self._config
        changed = 0
        for name, made in list(self._made.items()):
            now = _sources(self._config, name)
            if now in (made.sources, self._refused.get(name)):
                continue
            try:
                self._made[name] = _make(self._config, name)
            except ConfigError as error:
                self._refused[name] = now
                _log.error("%s; what was served goes on being served", error)
                continue
            self._refused.pop(name, None)
            changed += 1
            _log.info("TLS of %s is renewed", f"listener {name}" if name else "the peers")
        return changed

    def expiries_s(self) -> dict[str, float]:
        """By listener, `peers` for connections to them: when the certificate ends, since 1970."""
        return {
            name or "peers": made.not_after_ms / 1000
            for name, made in self._made.items()
            if made.not_after_ms is not None
        }

    def _present(self, name: str) -> ssl.SSLContext:
        made = self._made.get(name)
        if made is None:
            made = self._made[name] = _make(self._config, name)
        return made.context


def principal_mapping(config: BrokerConfig, listener: str) -> PrincipalMapping:
    """The rules of a listener. ConfigError names what is wrong with them."""
    key = "ssl.principal.mapping.rules"
    rules = _text(config, listener, key)
    try:
        return PrincipalMapping(rules)
    except ValueError as error:
        raise ConfigError(key, rules, str(error)) from error


def _make(config: BrokerConfig, name: str) -> _Made:
    # Looked at before they are read: what changes in between is read twice, never missed.
    sources = _sources(config, name)
    if name == _PEERS:
        listener = config.inter_broker_listener
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        algorithm = _text(config, listener, "ssl.endpoint.identification.algorithm")
        context.check_hostname = bool(algorithm)
    else:
        listener = name
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.verify_mode = _CLIENT_AUTH[_client_auth(config, listener)]
    context.options |= ssl.OP_NO_RENEGOTIATION
    _apply_versions(context, config, listener)
    ends_ms = None
    # A server shows a certificate; who asks the other side for one needs somebody to trust.
    if name != _PEERS or _has_key(config, listener):
        ends_ms = _load_key(context, config, listener)
    if context.verify_mode is not ssl.CERT_NONE:
        _load_trust(context, config, listener)
    return _Made(context, sources, ends_ms)


def _client_auth(config: BrokerConfig, listener: str) -> str:
    """Under SASL_SSL only the listener's own setting counts, as in Kafka (KIP-684)."""
    key = "ssl.client.auth"
    setting = config.listener_named(listener)
    if setting is not None and setting.protocol.uses_sasl:
        own = config.listener_overrides.get(f"listener.name.{listener.lower()}.{key}")
        return own if isinstance(own, str) else "none"
    return _text(config, listener, key)


def _apply_versions(context: ssl.SSLContext, config: BrokerConfig, listener: str) -> None:
    """`ssl.protocol` names the best version to a library that cannot choose by itself: checked."""
    protocol = _text(config, listener, "ssl.protocol")
    if protocol not in _PROTOCOLS:
        raise ConfigError("ssl.protocol", protocol, f"must be one of {_listed(_PROTOCOLS)}")
    names = _names(config, listener, "ssl.enabled.protocols")
    unknown = [name for name in names if name not in _VERSIONS and name not in _TOO_OLD]
    versions = {_VERSIONS[name] for name in names if name in _VERSIONS}
    if unknown or not versions:
        raise ConfigError(
            "ssl.enabled.protocols",
            ",".join(names),
            f"unknown: {_listed(unknown)}" if unknown else f"needs one of {_listed(_VERSIONS)}",
        )
    suites = _names(config, listener, "ssl.cipher.suites")
    if suites:
        try:
            of_1_2, has_1_3 = cipher_suites.chosen(suites)
            if of_1_2:
                context.set_ciphers(of_1_2)
        except (ValueError, ssl.SSLError) as error:
            raise ConfigError("ssl.cipher.suites", ",".join(suites), str(error)) from error
        for version, is_left in (
            (ssl.TLSVersion.TLSv1_2, bool(of_1_2)),
            (ssl.TLSVersion.TLSv1_3, has_1_3),
        ):
            if not is_left:
                versions.discard(version)
        if not versions:
            raise ConfigError(
                "ssl.cipher.suites",
                ",".join(suites),
                f"none of them is of an enabled version: {_listed(names)}",
            )
    context.minimum_version, context.maximum_version = min(versions), max(versions)


def _has_key(config: BrokerConfig, listener: str) -> bool:
    keys = ("ssl.keystore.location", "ssl.keystore.key")
    return any(_text(config, listener, key) for key in keys)


def _load_key(context: ssl.SSLContext, config: BrokerConfig, listener: str) -> int:
    """When its certificate ends, in milliseconds since 1970."""
    _require_pem(config, listener, "ssl.keystore.type")
    key, location = "ssl.keystore.location", _text(config, listener, "ssl.keystore.location")
    own_key = _text(config, listener, "ssl.keystore.key")
    # Empty and not None: of the latter the library asks for one at the terminal.
    password = _text(config, listener, "ssl.key.password")
    shown = location
    try:
        if own_key:
            key, shown = "ssl.keystore.key", "[hidden]"
            if location:
                raise ConfigError(key, shown, "ssl.keystore.location is set too")
            chain = _text(config, listener, "ssl.keystore.certificate.chain")
            with _as_file(f"{own_key}\n{chain}\n") as file:
                context.load_cert_chain(file, password=password)
            return _ends_ms(chain)
        context.load_cert_chain(location, password=password)
        return _ends_ms(Path(location).read_text(encoding="utf-8"))
    except (OSError, ssl.SSLError, CertificateError, UnicodeDecodeError) as error:
        raise ConfigError(key, shown, str(error)) from error


def _load_trust(context: ssl.SSLContext, config: BrokerConfig, listener: str) -> None:
    certificates = _text(config, listener, "ssl.truststore.certificates")
    location = _text(config, listener, "ssl.truststore.location")
    if not (location or certificates):
        context.load_default_certs()
        return
    _require_pem(config, listener, "ssl.truststore.type")
    key = "ssl.truststore.certificates" if certificates else "ssl.truststore.location"
    shown = "[hidden]" if certificates else location
    if certificates and location:
        raise ConfigError(key, shown, "ssl.truststore.location is set too")
    try:
        if certificates:
            context.load_verify_locations(cadata=certificates)
        else:
            context.load_verify_locations(location)
    except (OSError, ssl.SSLError, ValueError) as error:
        raise ConfigError(key, shown, str(error)) from error


def _ends_ms(pem: str) -> int:
    """Of the first certificate, which is the broker's own."""
    begins, ends = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    _before, _begin, rest = pem.partition(begins)
    body, end, _after = rest.partition(ends)
    return not_after_ms(ssl.PEM_cert_to_DER_cert(f"{begins}{body}{end}"))


@contextlib.contextmanager
def _as_file(text: str) -> Iterator[str]:
    """The library reads keys from files alone; this one is in memory and has no name."""
    number = os.memfd_create("pem")
    try:
        os.write(number, text.encode())
        yield f"/proc/self/fd/{number}"
    finally:
        os.close(number)


def _require_pem(config: BrokerConfig, listener: str, key: str) -> None:
    found = _text(config, listener, key)
    if found.upper() != "PEM":
        raise ConfigError(key, found, "only PEM is served")


def _text(config: BrokerConfig, listener: str, key: str) -> str:
    value = config.for_listener(listener, key)
    return value if isinstance(value, str) else ""


def _names(config: BrokerConfig, listener: str, key: str) -> list[str]:
    value = config.for_listener(listener, key)
    return [name for name in value if name] if isinstance(value, tuple | list) else []


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _sources(config: BrokerConfig, name: str) -> tuple[object, ...]:
    """The settings of a context, and how its files are now; a missing one is a state too."""
    listener = name or config.inter_broker_listener
    found: list[object] = [config.for_listener(listener, key) for key in _SETTINGS]
    for key in ("ssl.keystore.location", "ssl.truststore.location"):
        location = _text(config, listener, key)
        try:
            stat = Path(location).stat() if location else None
        except OSError:
            stat = None
        found.append((stat.st_mtime_ns, stat.st_ino, stat.st_size) if stat else None)
    return tuple(found)
