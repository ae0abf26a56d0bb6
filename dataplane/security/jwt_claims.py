"""What a token's claims must say (RFC 7519), whoever has signed it."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, Final, NamedTuple

from dataplane.security.sasl_exchange import Identity, SaslRefusedError

TIME_MAX_S: Final = 253_402_300_799
"""The end of the year 9999: a later one is no honest expiry."""


class ClaimRules(NamedTuple):
    """What is expected of claims; empty `audiences` and `issuer` None ask for nothing.

    A token that is for somebody (`aud`) is refused when no audience is expected (RFC 7519).
    """

    subject_claim: str = "sub"
    scope_claim: str = "scope"
    audiences: frozenset[str] = frozenset()
    issuer: str | None = None
    clock_skew_ms: int = 30_000
    required_scopes: frozenset[str] = frozenset()
    needs_issue_time: bool = True


def read_object(data: bytes) -> dict[str, Any]:
    """A JSON object of a token. SaslRefusedError when it is anything else."""
    try:
        found = json.loads(data, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise SaslRefusedError("the token is malformed") from error
    if not isinstance(found, dict):
        raise SaslRefusedError("the token is malformed")
    return found


def decode_part(part: str) -> bytes:
    """Unpadded base64url of one part of a token. SaslRefusedError."""
    try:
        return base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise SaslRefusedError("the token is malformed") from error


def identity_of(claims: dict[str, Any], rules: ClaimRules, now_ms: int) -> Identity:
    """Who the claims are about, and until when. SaslRefusedError says which claim does not do."""
    expires_ms = _time_ms(claims, "exp")
    if expires_ms is None:
        raise SaslRefusedError("the token has no expiry")
    if expires_ms + rules.clock_skew_ms <= now_ms:
        raise SaslRefusedError("the token has expired")
    not_before_ms = _time_ms(claims, "nbf")
    if not_before_ms is not None and not_before_ms - rules.clock_skew_ms > now_ms:
        raise SaslRefusedError("the token is not valid yet")
    issued_ms = _time_ms(claims, "iat")
    if issued_ms is None and rules.needs_issue_time:
        raise SaslRefusedError("the token has no time of issue")
    if issued_ms is not None and issued_ms > expires_ms:
        raise SaslRefusedError("the token expires before it is issued")
    if rules.issuer is not None and claims.get("iss") != rules.issuer:
        raise SaslRefusedError("the token is of another issuer")
    _check_audience(claims.get("aud"), rules.audiences)
    if not rules.required_scopes <= _scopes(claims.get(rules.scope_claim)):
        raise SaslRefusedError("the token lacks a scope")
    subject = claims.get(rules.subject_claim)
    if not isinstance(subject, str) or not subject.strip():
        raise SaslRefusedError("the token names no subject")
    return Identity(subject.strip(), ends_at_ms=expires_ms)


def _check_audience(given: Any, expected: frozenset[str]) -> None:
    audiences = [given] if isinstance(given, str) else [] if given is None else given
    if not isinstance(audiences, list) or not all(isinstance(each, str) for each in audiences):
        raise SaslRefusedError("the token is malformed")
    if (expected or audiences) and not expected.intersection(audiences):
        raise SaslRefusedError("the token is for another audience")


def _scopes(given: Any) -> frozenset[str]:
    scopes = given.split() if isinstance(given, str) else [] if given is None else given
    if not isinstance(scopes, list) or not all(isinstance(each, str) for each in scopes):
        raise SaslRefusedError("the token is malformed")
    return frozenset(scopes)


def _time_ms(claims: dict[str, Any], name: str) -> int | None:
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SaslRefusedError("the token is malformed")
    if not 0 <= value <= TIME_MAX_S:
        raise SaslRefusedError("the token is malformed")
    return int(value * 1000)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
