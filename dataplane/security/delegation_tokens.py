"""Delegation tokens (KIP-48, KIP-373): what one is, how long it may live, who may do what with it.

A token's secret is an HMAC of its id under `delegation.token.secret.key`, which every broker has:
the secret itself is stored nowhere. Its base64 text is the password that a client logs in with by
SCRAM. Nodes are Kafka's, `/delegation_token/tokens/<id>`, version 3.
"""

from __future__ import annotations

import base64
import hmac
import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.principal import USER_TYPE, Principal
from dataplane.security.scram import ITERATIONS_MIN, ScramCredential, ScramMechanism

if TYPE_CHECKING:
    from collections.abc import Sequence

TOKENS: Final = "/delegation_token/tokens"
CHANGES: Final = "/delegation_token/token_changes"
CHANGE_PREFIX: Final = f"{CHANGES}/token_change_"
VERSION: Final = 3
TOKENS_MAX: Final = 100_000
"""Of one cluster: each is kept in every broker's memory."""
RENEWERS_MAX: Final = 100


class DelegationToken(NamedTuple):
    """One token, without its secret. Times are milliseconds since the Unix epoch."""

    token_id: str
    owner: Principal
    requester: Principal
    renewers: tuple[Principal, ...]
    issued_ms: int
    expires_ms: int
    ends_ms: int
    """When it can be renewed no further."""

    def is_expired(self, now_ms: int) -> bool:
        return min(self.expires_ms, self.ends_ms) < now_ms

    def may_be_renewed_by(self, principal: Principal) -> bool:
        """Who may renew it may end it too, and sees it."""
        return principal == self.owner or principal in self.renewers


class Lifetimes(NamedTuple):
    """`delegation.token.max.lifetime.ms` and `delegation.token.expiry.time.ms`."""

    longest_ms: int
    between_renewals_ms: int

    def of_new(self, now_ms: int, asked_ms: int) -> tuple[int, int]:
        """(until when without renewal, until when at most); a negative wish is no wish."""
        longest_ms = self.longest_ms if asked_ms < 0 else min(asked_ms, self.longest_ms)
        ends_ms = now_ms + longest_ms
        return min(ends_ms, now_ms + self.between_renewals_ms), ends_ms

    def renewed(self, token: DelegationToken, now_ms: int, asked_ms: int) -> DelegationToken:
        """The token with a later end, or an earlier one: as asked, never beyond `ends_ms`."""
        period_ms = self.between_renewals_ms if asked_ms < 0 else asked_ms
        return token._replace(expires_ms=min(token.ends_ms, now_ms + period_ms))


def renewers_from(given: Sequence[tuple[str, str]]) -> tuple[Principal, ...]:
    """Principals of (type, name). KafkaError: INVALID_PRINCIPAL_TYPE, INVALID_REQUEST."""
    if len(given) > RENEWERS_MAX:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"at most {RENEWERS_MAX} renewers are allowed")
    return tuple(dict.fromkeys(user_from(kind, name) for kind, name in given))


def user_from(kind: str, name: str) -> Principal:
    if kind != USER_TYPE:
        raise KafkaError(ErrorCode.INVALID_PRINCIPAL_TYPE, "only principals of type User are known")
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "a principal needs a name")
    return Principal(kind, name)


def secret_of(token_id: str, key: str) -> bytes:
    """The HMAC that whoever may use the token is given."""
    return hmac.digest(key.encode(), token_id.encode(), "sha512")


def credentials_of(secret: bytes, salt: bytes) -> dict[ScramMechanism, ScramCredential]:
    """What a login by the token is checked against."""
    password = base64.b64encode(secret).decode()
    return {
        mechanism: ScramCredential.from_password(mechanism, password, salt, ITERATIONS_MIN)
        for mechanism in ScramMechanism
    }


def encode_token(token: DelegationToken) -> bytes:
    node = {
        "version": VERSION,
        "owner": str(token.owner),
        "tokenRequester": str(token.requester),
        "renewers": [str(each) for each in token.renewers],
        "issueTimestamp": token.issued_ms,
        "maxTimestamp": token.ends_ms,
        "expiryTimestamp": token.expires_ms,
        "tokenId": token.token_id,
    }
    return json.dumps(node, separators=(",", ":")).encode()


def decode_token(data: bytes) -> DelegationToken:
    """Any version up to 3: before, the owner had asked for it. ValueError when it is no token."""
    try:
        node: Any = json.loads(data)
        if not 1 <= node["version"] <= VERSION:
            raise ValueError(f"token node has version {node['version']}, known is {VERSION}")
        owner = Principal.parse(node["owner"])
        requester = node.get("tokenRequester")
        return DelegationToken(
            token_id=str(node["tokenId"]),
            owner=owner,
            requester=Principal.parse(requester) if requester else owner,
            renewers=tuple(Principal.parse(each) for each in node["renewers"]),
            issued_ms=int(node["issueTimestamp"]),
            expires_ms=int(node["expiryTimestamp"]),
            ends_ms=int(node["maxTimestamp"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"token node cannot be read: {error!r}") from error
