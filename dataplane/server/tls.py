"""TLS contexts from Kafka's `ssl.*` keys. PEM only: Java key stores are refused by name."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

from dataplane.config.key import ConfigError

if TYPE_CHECKING:
    from dataplane.config import BrokerConfig

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_CLIENT_AUTH = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}


def server_context(config: BrokerConfig) -> ssl.SSLContext:
    """For listeners. ConfigError names the key that is wrong."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    _apply_versions(context, config)
    _load_key(context, config)
    context.verify_mode = _CLIENT_AUTH[config.get_str("ssl.client.auth")]
    if context.verify_mode is not ssl.CERT_NONE:
        _load_trust(context, config)
    return context


def client_context(config: BrokerConfig) -> ssl.SSLContext:
    """For connections to other brokers."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _apply_versions(context, config)
    context.check_hostname = bool(config.get_str("ssl.endpoint.identification.algorithm"))
    _load_trust(context, config)
    if config.get_str("ssl.keystore.location"):
        _load_key(context, config)
    return context


def _apply_versions(context: ssl.SSLContext, config: BrokerConfig) -> None:
    versions = [_VERSIONS[v] for v in config.get_list("ssl.enabled.protocols") if v in _VERSIONS]
    if not versions:
        raise ConfigError(
            "ssl.enabled.protocols",
            ",".join(config.get_list("ssl.enabled.protocols")),
            f"at least one of {', '.join(_VERSIONS)} is needed",
        )
    context.minimum_version, context.maximum_version = min(versions), max(versions)


def _load_key(context: ssl.SSLContext, config: BrokerConfig) -> None:
    _require_pem(config, "ssl.keystore.type")
    location = config.get_str("ssl.keystore.location")
    try:
        context.load_cert_chain(location, password=config.get_str("ssl.key.password") or None)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError("ssl.keystore.location", location, str(error)) from error


def _load_trust(context: ssl.SSLContext, config: BrokerConfig) -> None:
    location = config.get_str("ssl.truststore.location")
    if not location:
        context.load_default_certs()
        return
    _require_pem(config, "ssl.truststore.type")
    try:
        context.load_verify_locations(location)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError("ssl.truststore.location", location, str(error)) from error


def _require_pem(config: BrokerConfig, key: str) -> None:
    if config.get_str(key).upper() != "PEM":
        raise ConfigError(key, config.get_str(key), "only PEM is served")
