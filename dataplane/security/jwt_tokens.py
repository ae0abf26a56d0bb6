"""Signed tokens (JWS, RFC 7515) checked against the keys of a JWKS (RFC 7517).

Algorithms are an allow list of signatures by public keys: no `none`, and no HMAC, whose "secret"
could be the public key. A key is taken only for algorithms of its own kind. What a token's header
says about keys beyond `kid` (`jwk`, `jku`, `x5u`, `x5c`) is not looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, RSAKey

from dataplane.security.jwt_claims import (
    ClaimRules,
    decode_part,
    identity_of,
    read_object,
)
from dataplane.security.sasl_exchange import Identity, SaslRefusedError

if TYPE_CHECKING:
    from collections.abc import Sequence

CURVES: Final = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}
_RSA: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
ALGORITHMS: Final = (*_RSA, *CURVES)
RSA_BITS_MIN: Final = 2048
KEYS_MAX: Final = 100
"""Of one key set; the rest is not looked at."""
TRIED_KEYS_MAX: Final = 8
"""Of keys that a token without a `kid` is held against: each costs a signature check."""
KID_CHARACTERS_MAX: Final = 1000
HEADER_BYTES_MAX: Final = 8 * 1024


class TokenHeader(NamedTuple):
    algorithm: str
    kid: str | None


class VerificationKey(NamedTuple):
    kid: str | None
    algorithms: frozenset[str]
    key: Any


_REGISTRY = jws.JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
_REGISTRY.max_header_length = HEADER_BYTES_MAX


def read_header(token: str) -> TokenHeader:
    """What is needed to choose a key. SaslRefusedError for what no key would be right for."""
    parts = token.split(".")
    if len(parts) != 3 or not all(parts[:2]) or len(parts[0]) > HEADER_BYTES_MAX:
        raise SaslRefusedError("the token is malformed")
    header = read_object(decode_part(parts[0]))
    algorithm, kid = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise SaslRefusedError("the token's algorithm is not allowed")
    if kid is not None and (not isinstance(kid, str) or len(kid) > KID_CHARACTERS_MAX):
        raise SaslRefusedError("the token is malformed")
    if "crit" in header:
        raise SaslRefusedError("the token has critical headers that are not understood")
    return TokenHeader(algorithm, kid)


def read_keys(data: bytes) -> list[VerificationKey]:
    """The keys of a JWKS that can verify a token; others are left out. ValueError if none can."""
    try:
        entries = read_object(data).get("keys")
    except SaslRefusedError as error:
        raise ValueError("the key set is not a JSON object") from error
    listed = entries if isinstance(entries, list) else []
    keys = [key for entry in listed[:KEYS_MAX] if (key := _read_key(entry)) is not None]
    if not keys:
        raise ValueError("the key set has no key that can verify a token")
    return keys


def matching(keys: Sequence[VerificationKey], header: TokenHeader) -> list[VerificationKey]:
    """The keys that may have signed a token."""
    fit = [
        key
        for key in keys
        if header.algorithm in key.algorithms and (header.kid is None or key.kid == header.kid)
    ]
    return fit[:TRIED_KEYS_MAX]


def verified(
    token: str, keys: Sequence[VerificationKey], rules: ClaimRules, now_ms: int
) -> Identity:
    """Who the token is about. SaslRefusedError: signed by none of `keys`, or its claims."""
    for key in keys:
        try:
            # Each key by itself: which algorithms it may verify does not come from the token.
            found = jws.deserialize_compact(
                token, key.key, algorithms=list(key.algorithms), registry=_REGISTRY
            )
        except (JoseError, ValueError):
            continue
        return identity_of(read_object(found.payload), rules, now_ms)
    raise SaslRefusedError("the token's signature is wrong")


def _read_key(entry: Any) -> VerificationKey | None:
    if not isinstance(entry, dict) or not _is_for_signatures(entry):
        return None
    public = {name: entry[name] for name in ("kty", "n", "e", "crv", "x", "y") if name in entry}
    key: RSAKey | ECKey | None = None
    fitting: frozenset[str] = frozenset()
    try:
        if entry.get("kty") == "RSA" and _bits(entry["n"]) >= RSA_BITS_MIN:
            key = RSAKey.import_key(public)
            fitting = frozenset(_RSA)
        elif entry.get("kty") == "EC":
            key = ECKey.import_key(public)
            fitting = frozenset(name for name in CURVES if CURVES[name] == entry.get("crv"))
    except (JoseError, SaslRefusedError, ValueError, TypeError, KeyError):
        return None
    if "alg" in entry:
        fitting &= {entry["alg"]} if isinstance(entry["alg"], str) else frozenset()
    return VerificationKey(entry.get("kid"), fitting, key) if fitting else None


def _bits(modulus: str) -> int:
    return int.from_bytes(decode_part(modulus)).bit_length()


def _is_for_signatures(entry: dict[str, Any]) -> bool:
    operations = entry.get("key_ops", ["verify"])
    return (
        entry.get("use", "sig") == "sig"
        and isinstance(operations, list)
        and "verify" in operations
        and isinstance(entry.get("kid", ""), str)
    )
