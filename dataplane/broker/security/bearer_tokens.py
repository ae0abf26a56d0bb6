"""OAUTHBEARER on one listener: what its settings make of a token."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from dataplane.config import ConfigError
from dataplane.security.jwt_claims import ClaimRules
from dataplane.security.oauthbearer import OAuthBearerExchange

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.broker.metrics import Metrics
    from dataplane.config.sasl import TokenSettings
    from dataplane.ports.clock import Clock
    from dataplane.security.sasl_exchange import Identity

AUTHORITIES_OPTION = "ssl.truststore.location"


def bearer_exchange(
    settings: TokenSettings, clock: Clock, metrics: Metrics
) -> Callable[[], OAuthBearerExchange]:
    """What makes an exchange of the listener. Raises ConfigError."""
    if settings.jwks_url is None:
        return _unsecured(settings, clock)
    # Here and not above: a broker without OAUTHBEARER does not load the libraries.
    from dataplane.broker.security.jwks import Jwks, reader

    authorities = settings.options.get(AUTHORITIES_OPTION)
    try:
        read = reader(settings.jwks_url, authorities)
    except OSError as error:
        key = "sasl.oauthbearer.jwks.endpoint.url"
        raise ConfigError(key, settings.jwks_url, f"cannot be read: {error}") from error
    keys = Jwks(settings, clock, metrics, read)
    rules = ClaimRules(
        subject_claim=settings.subject_claim,
        scope_claim=settings.scope_claim,
        audiences=settings.audiences,
        issuer=settings.issuer,
        clock_skew_ms=settings.clock_skew_ms,
    )
    return functools.partial(OAuthBearerExchange, functools.partial(keys.validate, rules=rules))


def _unsecured(settings: TokenSettings, clock: Clock) -> Callable[[], OAuthBearerExchange]:
    from dataplane.security.unsecured_tokens import identity_of_unsecured, rules_from

    try:
        rules = rules_from(settings.options)
    except ValueError as error:
        raise ConfigError("sasl.jaas.config", "[hidden]", str(error)) from error

    async def validate(token: str) -> Identity:
        return identity_of_unsecured(token, rules, clock.realtime_ms())

    return functools.partial(OAuthBearerExchange, validate)
