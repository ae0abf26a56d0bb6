"""Tokens that nobody has signed (`alg` none), as Kafka's unsecured validator takes them.

Anybody can write one: only for trials, and only where the configuration names that validator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.security.jwt_claims import ClaimRules, decode_part, identity_of, read_object
from dataplane.security.sasl_exchange import Identity, SaslRefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping


def rules_from(options: Mapping[str, str]) -> ClaimRules:
    """The JAAS options of the validator. ValueError."""
    skew = options.get("unsecuredValidatorAllowableClockSkewMs", "0")
    if not skew.isascii() or not skew.isdecimal():
        raise ValueError("unsecuredValidatorAllowableClockSkewMs must be a number from 0")
    return ClaimRules(
        subject_claim=options.get("unsecuredValidatorPrincipalClaimName", "sub"),
        scope_claim=options.get("unsecuredValidatorScopeClaimName", "scope"),
        required_scopes=frozenset(options.get("unsecuredValidatorRequiredScope", "").split()),
        clock_skew_ms=int(skew),
        needs_issue_time=False,
    )


def identity_of_unsecured(token: str, rules: ClaimRules, now_ms: int) -> Identity:
    """Who the token says it is about. SaslRefusedError."""
    parts = token.split(".")
    if len(parts) != 3 or parts[2]:
        raise SaslRefusedError("the token is malformed")
    if read_object(decode_part(parts[0])).get("alg") != "none":
        raise SaslRefusedError("the token's algorithm is not allowed")
    claims = read_object(decode_part(parts[1]))
    claims.pop("aud", None)  # Kafka's validator does not look at it
    return identity_of(claims, rules, now_ms)
